// The types of k8s.io/api/autoscaling/v2. Written by `npm run generate`; do not edit.
import type { KubeObject, ListMeta } from '#apimachinery/meta/types';
import type { LabelSelector } from '#apimachinery/meta/schema/meta_v1.gen';

export interface ContainerResourceMetricSource {
  name?: string;
  target?: MetricTarget;
  container?: string;
}

export interface ContainerResourceMetricStatus {
  name?: string;
  current?: MetricValueStatus;
  container?: string;
}

export interface CrossVersionObjectReference {
  kind?: string;
  name?: string;
  apiVersion?: string;
}

export interface ExternalMetricSource {
  metric?: MetricIdentifier;
  target?: MetricTarget;
}

export interface ExternalMetricStatus {
  metric?: MetricIdentifier;
  current?: MetricValueStatus;
}

export interface HPAScalingPolicy {
  type?: string;
  value?: number;
  periodSeconds?: number;
}

export interface HPAScalingRules {
  stabilizationWindowSeconds?: number;
  selectPolicy?: string;
  policies?: HPAScalingPolicy[];
  tolerance?: string;
}

export interface HorizontalPodAutoscaler extends KubeObject {
  spec?: HorizontalPodAutoscalerSpec;
  status?: HorizontalPodAutoscalerStatus;
}

export interface HorizontalPodAutoscalerBehavior {
  scaleUp?: HPAScalingRules;
  scaleDown?: HPAScalingRules;
}

export interface HorizontalPodAutoscalerCondition {
  type?: string;
  status?: string;
  lastTransitionTime?: string;
  reason?: string;
  message?: string;
}

export interface HorizontalPodAutoscalerList {
  kind?: string;
  apiVersion?: string;
  metadata?: ListMeta;
  items?: HorizontalPodAutoscaler[];
}

export interface HorizontalPodAutoscalerSpec {
  scaleTargetRef?: CrossVersionObjectReference;
  minReplicas?: number;
  maxReplicas?: number;
  metrics?: MetricSpec[];
  behavior?: HorizontalPodAutoscalerBehavior;
}

export interface HorizontalPodAutoscalerStatus {
  observedGeneration?: number;
  lastScaleTime?: string;
  currentReplicas?: number;
  desiredReplicas?: number;
  currentMetrics?: MetricStatus[];
  conditions?: HorizontalPodAutoscalerCondition[];
}

export interface MetricIdentifier {
  name?: string;
  selector?: LabelSelector;
}

export interface MetricSpec {
  type?: string;
  object?: ObjectMetricSource;
  pods?: PodsMetricSource;
  resource?: ResourceMetricSource;
  containerResource?: ContainerResourceMetricSource;
  external?: ExternalMetricSource;
}

export interface MetricStatus {
  type?: string;
  object?: ObjectMetricStatus;
  pods?: PodsMetricStatus;
  resource?: ResourceMetricStatus;
  containerResource?: ContainerResourceMetricStatus;
  external?: ExternalMetricStatus;
}

export interface MetricTarget {
  type?: string;
  value?: string;
  averageValue?: string;
  averageUtilization?: number;
}

export interface MetricValueStatus {
  value?: string;
  averageValue?: string;
  averageUtilization?: number;
}

export interface ObjectMetricSource {
  describedObject?: CrossVersionObjectReference;
  target?: MetricTarget;
  metric?: MetricIdentifier;
}

export interface ObjectMetricStatus {
  metric?: MetricIdentifier;
  current?: MetricValueStatus;
  describedObject?: CrossVersionObjectReference;
}

export interface PodsMetricSource {
  metric?: MetricIdentifier;
  target?: MetricTarget;
}

export interface PodsMetricStatus {
  metric?: MetricIdentifier;
  current?: MetricValueStatus;
}

export interface ResourceMetricSource {
  name?: string;
  target?: MetricTarget;
}

export interface ResourceMetricStatus {
  name?: string;
  current?: MetricValueStatus;
}
