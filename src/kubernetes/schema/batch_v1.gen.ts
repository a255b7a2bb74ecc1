// The types of k8s.io/api/batch/v1. Written by `npm run generate`; do not edit.
import type { KubeObject, ListMeta, ObjectMeta } from '#apimachinery/meta/types';
import type { ObjectReference, PodTemplateSpec } from './core_v1.gen.ts';
import type { LabelSelector } from '#apimachinery/meta/schema/meta_v1.gen';

export interface CronJob extends KubeObject {
  spec?: CronJobSpec;
  status?: CronJobStatus;
}

export interface CronJobList {
  kind?: string;
  apiVersion?: string;
  metadata?: ListMeta;
  items?: CronJob[];
}

export interface CronJobSpec {
  schedule?: string;
  timeZone?: string;
  startingDeadlineSeconds?: number;
  concurrencyPolicy?: string;
  suspend?: boolean;
  jobTemplate?: JobTemplateSpec;
  successfulJobsHistoryLimit?: number;
  failedJobsHistoryLimit?: number;
}

export interface CronJobStatus {
  active?: ObjectReference[];
  lastScheduleTime?: string;
  lastSuccessfulTime?: string;
}

export interface Job extends KubeObject {
  spec?: JobSpec;
  status?: JobStatus;
}

export interface JobCondition {
  type?: string;
  status?: string;
  lastProbeTime?: string;
  lastTransitionTime?: string;
  reason?: string;
  message?: string;
}

export interface JobList {
  kind?: string;
  apiVersion?: string;
  metadata?: ListMeta;
  items?: Job[];
}

export interface JobSpec {
  parallelism?: number;
  completions?: number;
  activeDeadlineSeconds?: number;
  podFailurePolicy?: PodFailurePolicy;
  successPolicy?: SuccessPolicy;
  backoffLimit?: number;
  backoffLimitPerIndex?: number;
  maxFailedIndexes?: number;
  selector?: LabelSelector;
  manualSelector?: boolean;
  template?: PodTemplateSpec;
  ttlSecondsAfterFinished?: number;
  completionMode?: string;
  suspend?: boolean;
  podReplacementPolicy?: string;
  managedBy?: string;
}

export interface JobStatus {
  conditions?: JobCondition[];
  startTime?: string;
  completionTime?: string;
  active?: number;
  succeeded?: number;
  failed?: number;
  terminating?: number;
  completedIndexes?: string;
  failedIndexes?: string;
  uncountedTerminatedPods?: UncountedTerminatedPods;
  ready?: number;
}

export interface JobTemplateSpec {
  metadata?: ObjectMeta;
  spec?: JobSpec;
}

export interface PodFailurePolicy {
  rules?: PodFailurePolicyRule[];
}

export interface PodFailurePolicyOnExitCodesRequirement {
  containerName?: string;
  operator?: string;
  values?: number[];
}

export interface PodFailurePolicyOnPodConditionsPattern {
  type?: string;
  status?: string;
}

export interface PodFailurePolicyRule {
  action?: string;
  onExitCodes?: PodFailurePolicyOnExitCodesRequirement;
  onPodConditions?: PodFailurePolicyOnPodConditionsPattern[];
}

export interface SuccessPolicy {
  rules?: SuccessPolicyRule[];
}

export interface SuccessPolicyRule {
  succeededIndexes?: string;
  succeededCount?: number;
}

export interface UncountedTerminatedPods {
  succeeded?: string[];
  failed?: string[];
}
