import type { KubeObject } from '#apimachinery/meta/types';
import { encodeRawJson } from '#apimachinery/runtime/json/json';
import type { VersionConversion } from '#apiserver/registry/resource-definition';
import { compareBytes } from '#kubernetes/apis/columns';
import type * as v1 from '#kubernetes/schema/autoscaling_v1.gen';
import type * as v2 from '#kubernetes/schema/autoscaling_v2.gen';

/**
 * Conversion between autoscaling/v1 and v2. v1 has one metric, the CPU utilization; all others and the other v2-only fields are kept in
 * annotations, so that clients of v1 do not lose them. Upstream: pkg/apis/autoscaling/v1/conversion.go.
 */
const annotations = {
  metrics: 'autoscaling.alpha.kubernetes.io/metrics',
  currentMetrics: 'autoscaling.alpha.kubernetes.io/current-metrics',
  conditions: 'autoscaling.alpha.kubernetes.io/conditions',
  behavior: 'autoscaling.alpha.kubernetes.io/behavior',
  scaleDownTolerance: 'autoscaling.alpha.kubernetes.io/scale-down-tolerance',
  scaleUpTolerance: 'autoscaling.alpha.kubernetes.io/scale-up-tolerance',
} as const;
const defaultCpuUtilization = 80;

/** Metrics as the annotations hold them: types of autoscaling/v1 to which no field refers any more. */
interface OldMetric {
  type: string;
  object?: {
    target?: v2.CrossVersionObjectReference;
    metricName?: string;
    targetValue?: string;
    currentValue?: string;
    selector?: unknown;
    averageValue?: string;
  };
  pods?: { metricName?: string; targetAverageValue?: string; currentAverageValue?: string; selector?: unknown };
  resource?: OldResource;
  containerResource?: OldResource;
  external?: {
    metricName?: string;
    metricSelector?: unknown;
    targetValue?: string;
    targetAverageValue?: string;
    currentValue?: string;
    currentAverageValue?: string;
  };
}
interface OldResource {
  name?: string;
  container?: string;
  targetAverageUtilization?: number;
  targetAverageValue?: string;
  currentAverageUtilization?: number;
  currentAverageValue?: string;
}

function selectorOf(metric: v2.MetricIdentifier | undefined): unknown {
  const { matchLabels, matchExpressions } = metric?.selector ?? {};
  if (!metric?.selector) return undefined;
  const labels = matchLabels && Object.fromEntries(Object.entries(matchLabels).sort(([a], [b]) => compareBytes(a, b)));
  return { matchLabels: labels, matchExpressions: matchExpressions?.map(({ key, operator, values }) => ({ key, operator, values })) };
}

function objectReference(reference: v2.CrossVersionObjectReference | undefined): object {
  return { kind: reference?.kind ?? '', name: reference?.name ?? '', apiVersion: reference?.apiVersion || undefined };
}

function toOldSpec({ type, object, pods, resource, containerResource, external }: v2.MetricSpec): object {
  const resourceOf = (source: v2.ResourceMetricSource) => ({
    name: source.name ?? '',
    targetAverageUtilization: source.target?.averageUtilization,
    targetAverageValue: source.target?.averageValue,
  });
  return {
    type,
    object: object && {
      target: objectReference(object.describedObject),
      metricName: object.metric?.name ?? '',
      targetValue: object.target?.value ?? '0',
      selector: selectorOf(object.metric),
      averageValue: object.target?.averageValue,
    },
    pods: pods && {
      metricName: pods.metric?.name ?? '',
      targetAverageValue: pods.target?.averageValue ?? '0',
      selector: selectorOf(pods.metric),
    },
    resource: resource && resourceOf(resource),
    containerResource: containerResource && { ...resourceOf(containerResource), container: containerResource.container ?? '' },
    external: external && {
      metricName: external.metric?.name ?? '',
      metricSelector: selectorOf(external.metric),
      targetValue: external.target?.value,
      targetAverageValue: external.target?.averageValue,
    },
  };
}

function toOldStatus({ type, object, pods, resource, containerResource, external }: v2.MetricStatus): object {
  const resourceOf = (status: v2.ResourceMetricStatus) => ({
    name: status.name ?? '',
    currentAverageUtilization: status.current?.averageUtilization,
    currentAverageValue: status.current?.averageValue ?? '0',
  });
  return {
    type,
    object: object && {
      target: objectReference(object.describedObject),
      metricName: object.metric?.name ?? '',
      currentValue: object.current?.value ?? '0',
      selector: selectorOf(object.metric),
      averageValue: object.current?.averageValue,
    },
    pods: pods && {
      metricName: pods.metric?.name ?? '',
      currentAverageValue: pods.current?.averageValue ?? '0',
      selector: selectorOf(pods.metric),
    },
    resource: resource && resourceOf(resource),
    containerResource: containerResource && { ...resourceOf(containerResource), container: containerResource.container ?? '' },
    external: external && {
      metricName: external.metric?.name ?? '',
      metricSelector: selectorOf(external.metric),
      currentValue: external.current?.value ?? '0',
      currentAverageValue: external.current?.averageValue,
    },
  };
}

/** Returns the value without its undefined members. */
function defined<T extends object>(value: { [K in keyof T]?: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T;
}

function identifier(name: string | undefined, selector: unknown): v2.MetricIdentifier {
  return defined<v2.MetricIdentifier>({ name: name ?? '', selector: selector as NonNullable<v2.MetricIdentifier['selector']> | undefined });
}

const isZero = (quantity: string | undefined) => !quantity || /^[+-]?0*(?:\.0*)?[a-zA-Z]*$/.test(quantity);

function fromOldSpec({ type, object, pods, resource, containerResource, external }: OldMetric): v2.MetricSpec {
  const resourceTarget = (source: OldResource) =>
    defined<v2.MetricTarget>({
      type: source.targetAverageUtilization === undefined ? 'AverageValue' : 'Utilization',
      averageValue: source.targetAverageValue,
      averageUtilization: source.targetAverageUtilization,
    });
  return defined<v2.MetricSpec>({
    type,
    object: object && {
      describedObject: defined<v2.CrossVersionObjectReference>({ ...object.target }),
      target: defined<v2.MetricTarget>({
        type: object.averageValue === undefined ? 'Value' : 'AverageValue',
        // The v1 type always has a value: zero beside an average means no value.
        value: object.averageValue !== undefined && isZero(object.targetValue) ? undefined : (object.targetValue ?? '0'),
        averageValue: object.averageValue,
      }),
      metric: identifier(object.metricName, object.selector),
    },
    pods: pods && {
      metric: identifier(pods.metricName, pods.selector),
      target: { type: 'AverageValue', averageValue: pods.targetAverageValue ?? '0' },
    },
    resource: resource && { name: resource.name ?? '', target: resourceTarget(resource) },
    containerResource: containerResource && {
      name: containerResource.name ?? '',
      target: resourceTarget(containerResource),
      container: containerResource.container ?? '',
    },
    external: external && {
      metric: identifier(external.metricName, external.metricSelector),
      target: defined<v2.MetricTarget>({
        type: external.targetValue === undefined ? 'AverageValue' : 'Value',
        value: external.targetValue,
        averageValue: external.targetAverageValue,
      }),
    },
  });
}

function fromOldStatus({ type, object, pods, resource, containerResource, external }: OldMetric): v2.MetricStatus {
  const resourceCurrent = (status: OldResource) =>
    defined<v2.MetricValueStatus>({
      averageValue: status.currentAverageValue ?? '0',
      averageUtilization: status.currentAverageUtilization,
    });
  return defined<v2.MetricStatus>({
    type,
    object: object && {
      metric: identifier(object.metricName, object.selector),
      current: defined<v2.MetricValueStatus>({ value: object.currentValue ?? '0', averageValue: object.averageValue }),
      describedObject: defined<v2.CrossVersionObjectReference>({ ...object.target }),
    },
    pods: pods && { metric: identifier(pods.metricName, pods.selector), current: { averageValue: pods.currentAverageValue ?? '0' } },
    resource: resource && { name: resource.name ?? '', current: resourceCurrent(resource) },
    containerResource: containerResource && {
      name: containerResource.name ?? '',
      current: resourceCurrent(containerResource),
      container: containerResource.container ?? '',
    },
    external: external && {
      metric: identifier(external.metricName, external.metricSelector),
      current: defined<v2.MetricValueStatus>({ value: external.currentValue ?? '0', averageValue: external.currentAverageValue }),
    },
  });
}

/** Returns the behavior as the annotation holds it: upstream's internal type, with Go field names. */
function toOldBehavior(behavior: v2.HorizontalPodAutoscalerBehavior): object {
  const rules = (scaling: v2.HPAScalingRules | undefined) =>
    scaling
      ? {
          StabilizationWindowSeconds: scaling.stabilizationWindowSeconds ?? null,
          SelectPolicy: scaling.selectPolicy ?? null,
          Policies:
            scaling.policies?.map(({ type = '', value = 0, periodSeconds = 0 }) => ({
              Type: type,
              Value: value,
              PeriodSeconds: periodSeconds,
            })) ?? null,
          Tolerance: scaling.tolerance ?? null,
        }
      : null;
  return { ScaleUp: rules(behavior.scaleUp), ScaleDown: rules(behavior.scaleDown) };
}

/** Returns a member by its case-insensitive name, as Go's decoder does; null counts as absent. */
function member(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.entries(value).find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1] ?? undefined;
}

function fromOldBehavior(old: unknown): v2.HorizontalPodAutoscalerBehavior {
  const rules = (scaling: unknown) =>
    scaling === undefined
      ? undefined
      : defined<v2.HPAScalingRules>({
          stabilizationWindowSeconds: member(scaling, 'StabilizationWindowSeconds') as number | undefined,
          selectPolicy: member(scaling, 'SelectPolicy') as string | undefined,
          policies: (member(scaling, 'Policies') as unknown[] | undefined)?.map((policy) =>
            defined<v2.HPAScalingPolicy>({
              type: member(policy, 'Type') as string | undefined,
              value: member(policy, 'Value') as number | undefined,
              periodSeconds: member(policy, 'PeriodSeconds') as number | undefined,
            }),
          ),
          tolerance: member(scaling, 'Tolerance') as string | undefined,
        });
  return defined<v2.HorizontalPodAutoscalerBehavior>({
    scaleUp: rules(member(old, 'ScaleUp')),
    scaleDown: rules(member(old, 'ScaleDown')),
  });
}

function isCpuUtilization({ type, resource }: v2.MetricSpec): boolean {
  return type === 'Resource' && resource?.name === 'cpu' && resource.target?.averageUtilization !== undefined;
}

function cpuUtilization(averageUtilization: number): v2.MetricSpec {
  return { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } } };
}

/** Returns the metadata with the annotations of this conversion replaced by `added`. */
function withAnnotations(metadata: KubeObject['metadata'], added: Readonly<Record<string, string>>): KubeObject['metadata'] {
  const own = new Set<string>(Object.values(annotations));
  const others = Object.entries(metadata.annotations ?? {}).filter(([key]) => !own.has(key));
  const result = { ...metadata, annotations: Object.fromEntries([...others, ...Object.entries(added)]) };
  if (Object.keys(result.annotations).length > 0) return result;
  const { annotations: _, ...without } = result;
  return without;
}

function toV1(object: KubeObject): KubeObject {
  const { spec, status, ...rest } = object as v2.HorizontalPodAutoscaler;
  const otherMetrics = (spec?.metrics ?? []).filter((metric) => !isCpuUtilization(metric));
  const added: Record<string, string> = {};
  if (otherMetrics.length > 0) added[annotations.metrics] = encodeRawJson(otherMetrics.map(toOldSpec));
  if (status?.currentMetrics?.length) added[annotations.currentMetrics] = encodeRawJson(status.currentMetrics.map(toOldStatus));
  if (spec?.behavior) added[annotations.behavior] = encodeRawJson(toOldBehavior(spec.behavior));
  if (status?.conditions?.length) {
    added[annotations.conditions] = encodeRawJson(
      status.conditions.map((condition) => ({
        type: condition.type ?? '',
        status: condition.status ?? '',
        lastTransitionTime: condition.lastTransitionTime ?? null,
        reason: condition.reason || undefined,
        message: condition.message || undefined,
      })),
    );
  }
  const cpu = status?.currentMetrics?.findLast(
    ({ type, resource }) => type === 'Resource' && resource?.name === 'cpu' && resource.current?.averageUtilization !== undefined,
  );
  const result: v1.HorizontalPodAutoscaler = {
    ...rest,
    apiVersion: 'autoscaling/v1',
    metadata: withAnnotations(object.metadata, added),
    spec: defined<v1.HorizontalPodAutoscalerSpec>({
      scaleTargetRef: spec?.scaleTargetRef,
      minReplicas: spec?.minReplicas,
      maxReplicas: spec?.maxReplicas,
      targetCPUUtilizationPercentage: spec?.metrics?.find(isCpuUtilization)?.resource?.target?.averageUtilization,
    }),
    status: defined<v1.HorizontalPodAutoscalerStatus>({
      observedGeneration: status?.observedGeneration,
      lastScaleTime: status?.lastScaleTime,
      currentReplicas: status?.currentReplicas ?? 0,
      desiredReplicas: status?.desiredReplicas ?? 0,
      currentCPUUtilizationPercentage: cpu?.resource?.current?.averageUtilization,
    }),
  };
  return result;
}

/** Parses the JSON of an annotation. Returns undefined if it is absent or invalid, which is ignored. */
function parseAnnotation<T>(object: KubeObject, name: string, check: (value: unknown) => value is T): T | undefined {
  const text = object.metadata.annotations?.[name];
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return check(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const isListOfObjects = <T>(value: unknown): value is T[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'object' && item !== null);
const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null && !Array.isArray(value);

function toV2(object: KubeObject): KubeObject {
  const { spec, status, ...rest } = object as v1.HorizontalPodAutoscaler;
  let metrics = (parseAnnotation(object, annotations.metrics, isListOfObjects<OldMetric>) ?? []).map(fromOldSpec);
  if (spec?.targetCPUUtilizationPercentage !== undefined) metrics.push(cpuUtilization(spec.targetCPUUtilizationPercentage));
  if (metrics.length === 0) metrics = [cpuUtilization(defaultCpuUtilization)];
  const behavior = parseAnnotation(object, annotations.behavior, isObject);
  const newBehavior = behavior && fromOldBehavior(behavior);
  const currentMetrics =
    parseAnnotation(object, annotations.currentMetrics, isListOfObjects<OldMetric>)?.map(fromOldStatus) ??
    (status?.currentCPUUtilizationPercentage === undefined
      ? undefined
      : [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: status.currentCPUUtilizationPercentage } } }]);
  const conditions = parseAnnotation(object, annotations.conditions, isListOfObjects<v2.HorizontalPodAutoscalerCondition>)?.map(
    ({ type, status, lastTransitionTime, reason, message }) =>
      defined<v2.HorizontalPodAutoscalerCondition>({ type, status, lastTransitionTime: lastTransitionTime ?? undefined, reason, message }),
  );
  const result: v2.HorizontalPodAutoscaler = {
    ...rest,
    apiVersion: 'autoscaling/v2',
    metadata: withAnnotations(object.metadata, {}),
    spec: defined<v2.HorizontalPodAutoscalerSpec>({
      scaleTargetRef: spec?.scaleTargetRef,
      minReplicas: spec?.minReplicas,
      maxReplicas: spec?.maxReplicas,
      metrics,
      behavior: newBehavior && Object.keys(newBehavior).length > 0 ? newBehavior : undefined,
    }),
    status: defined<v2.HorizontalPodAutoscalerStatus>({
      observedGeneration: status?.observedGeneration,
      lastScaleTime: status?.lastScaleTime,
      currentReplicas: status?.currentReplicas,
      desiredReplicas: status?.desiredReplicas,
      currentMetrics,
      conditions,
    }),
  };
  return result;
}

/** Conversion of HorizontalPodAutoscalers of autoscaling/v1, which are stored as autoscaling/v2. */
export const horizontalPodAutoscalerConversion: VersionConversion = { toStorage: toV2, fromStorage: toV1 };
