/**
 * Validation of autoscalers in the stored version, v2. Upstream: pkg/apis/autoscaling/validation/validation.go and the strategy of the
 * registry.
 */
import type { ServerTraits } from '#apiserver/registry/resource-definition';
import { isOptedIn } from '#kubernetes/apis/core/capabilities';
import {
  type FieldError,
  type Path,
  fieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
  stopIfTooMany,
  named,
} from '#apimachinery/validation/field';
import { isDNS1123Label, isValidPathSegmentName } from '#apimachinery/validation/names';
import { check, isNegative, quantityOf, validateNonnegative } from '#kubernetes/apis/core/validation/checks';
import { validateContainerResourceName } from '#kubernetes/apis/core/validation/resources';
import type {
  CrossVersionObjectReference,
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerSpec,
  HPAScalingPolicy,
  HPAScalingRules,
  MetricIdentifier,
  MetricSpec,
  MetricTarget,
} from '#kubernetes/schema/autoscaling_v2.gen';

const specPath = fieldPath('spec');
const statusPath = fieldPath('status');
const noSpec: HorizontalPodAutoscalerSpec = {};
const maxPeriodSeconds = 1800;
const maxStabilizationWindowSeconds = 3600;
const metricTypes = ['ContainerResource', 'External', 'Object', 'Pods', 'Resource'];
/** Metric sources in upstream's order: only the first one that is present is validated. */
const sources = ['object', 'external', 'pods', 'resource', 'containerResource'] as const;

export function validateHorizontalPodAutoscaler({ spec = noSpec }: HorizontalPodAutoscaler, server: ServerTraits): FieldError[] {
  return validateSpec(spec, undefined, server);
}

export function validateHorizontalPodAutoscalerUpdate(
  { spec = noSpec }: HorizontalPodAutoscaler,
  old: HorizontalPodAutoscaler,
  server: ServerTraits,
): FieldError[] {
  return validateSpec(spec, old.spec ?? noSpec, server);
}

function validateSpec(spec: HorizontalPodAutoscalerSpec, old: HorizontalPodAutoscalerSpec | undefined, server: ServerTraits): FieldError[] {
  const errors: FieldError[] = [];
  const { minReplicas, maxReplicas = 0, scaleTargetRef = {}, metrics, behavior } = spec;
  const lowest = old?.minReplicas === 0 || isOptedIn(server, 'HPAScaleToZero') ? 0 : 1;
  if (minReplicas !== undefined && minReplicas < lowest)
    errors.push(invalid(specPath.child('minReplicas'), minReplicas, `must be greater than or equal to ${lowest}`));
  if (maxReplicas === 0) errors.push(required(specPath.child('maxReplicas'), 'must be set and greater than 0'));
  else if (maxReplicas < 0) errors.push(invalid(specPath.child('maxReplicas'), maxReplicas, 'must be greater than or equal to 1'));
  if (minReplicas !== undefined && maxReplicas < minReplicas)
    errors.push(invalid(specPath.child('maxReplicas'), maxReplicas, 'must be greater than or equal to `minReplicas`'));
  validateReference(errors, scaleTargetRef, specPath.child('scaleTargetRef'), allowedTargets(scaleTargetRef, old?.scaleTargetRef));
  const keepsObjects =
    old?.metrics?.some(
      ({ type, object }) => type === 'Object' && object && apiVersionError(object.describedObject ?? {}, true) !== undefined,
    ) ?? false;
  for (const [i, metric] of (metrics ?? []).entries()) {
    validateMetric(errors, metric, specPath.child('metrics').index(i), keepsObjects ? 'any' : 'any group');
    stopIfTooMany(errors);
  }
  if (minReplicas === 0 && !metrics?.some(({ type }) => type === 'Object' || type === 'External')) {
    errors.push(
      forbidden(specPath.child('metrics'), 'must specify at least one Object or External metric to support scaling to zero replicas'),
    );
  }
  if (behavior?.scaleUp) validateRules(errors, behavior.scaleUp, specPath.child('behavior', 'scaleUp'));
  if (behavior?.scaleDown) validateRules(errors, behavior.scaleDown, specPath.child('behavior', 'scaleDown'));
  return errors;
}

/** The form of apiVersion that a reference must have: with a non-empty group, parsable, or any. */
type ApiVersions = 'group' | 'any group' | 'any';

/** Returns the allowed target kinds. The kind of the stored target stays allowed; the core group has one scalable kind. */
function allowedTargets({ kind, apiVersion }: CrossVersionObjectReference, old: CrossVersionObjectReference | undefined): ApiVersions {
  if (old && old.kind === kind && old.apiVersion === apiVersion) return 'any';
  return kind === 'ReplicationController' ? 'any group' : 'group';
}

function validateReference(errors: FieldError[], reference: CrossVersionObjectReference, path: Path, apiVersions: ApiVersions): void {
  for (const field of ['kind', 'name'] as const) {
    const value = reference[field];
    if (!value) errors.push(required(path.child(field)));
    else check(errors, isValidPathSegmentName(value), value, path, field);
  }
  const error = apiVersions === 'any' ? undefined : apiVersionError(reference, apiVersions === 'any group');
  if (error !== undefined) errors.push(invalid(path.child('apiVersion'), reference.apiVersion ?? '', error));
}

function apiVersionError({ apiVersion = '' }: CrossVersionObjectReference, allowEmptyGroup: boolean): string | undefined {
  const parts = apiVersion.split('/');
  if (parts.length > 2) return `unexpected GroupVersion string: ${apiVersion}`;
  return !allowEmptyGroup && (parts.length < 2 || parts[0] === '') ? 'apiVersion must specify API group' : undefined;
}

function validateMetric(errors: FieldError[], metric: MetricSpec, path: Path, apiVersions: ApiVersions): void {
  const { type = '' } = metric;
  const isKnown = metricTypes.includes(type);
  if (type === '') errors.push(required(path.child('type'), 'must specify a metric source type'));
  if (!isKnown) errors.push(notSupported(path.child('type'), type, metricTypes));
  const present = sources.filter((source) => metric[source] !== undefined);
  if (present[0]) validateSource(errors, metric, present[0], path.child(present[0]), apiVersions);
  const expected = isKnown ? type.charAt(0).toLowerCase() + type.slice(1) : '';
  if (!isKnown) errors.push(notSupported(path.child('type'), type, metricTypes));
  else if (!(present as readonly string[]).includes(expected))
    errors.push(required(path.child(expected), 'must populate information for the given metric source'));
  if (present.length === 1) return;
  for (const source of present)
    if (source !== expected) errors.push(forbidden(path.child(source), 'must populate the given metric source only'));
}

function validateSource(
  errors: FieldError[],
  metric: MetricSpec,
  source: (typeof sources)[number],
  path: Path,
  apiVersions: ApiVersions,
): void {
  const { target = {} } = metric[source]!;
  const { value, averageValue, averageUtilization } = target;
  const at = path.child('target');
  switch (source) {
    case 'object':
      validateReference(errors, metric.object!.describedObject ?? {}, path.child('describedObject'), apiVersions);
      validateIdentifier(errors, metric.object!.metric, path);
      validateTarget(errors, target, at);
      if (value === undefined && averageValue === undefined)
        errors.push(required(at.child('averageValue'), 'must set either a target value or averageValue'));
      break;
    case 'external':
      validateIdentifier(errors, metric.external!.metric, path);
      validateTarget(errors, target, at);
      if (value === undefined && averageValue === undefined)
        errors.push(required(at.child('averageValue'), 'must set either a target value for metric or a per-pod target'));
      if (value !== undefined && averageValue !== undefined)
        errors.push(forbidden(at.child('value'), 'may not set both a target value for metric and a per-pod target'));
      break;
    case 'pods':
      validateIdentifier(errors, metric.pods!.metric, path);
      validateTarget(errors, target, at);
      if (averageValue === undefined) errors.push(required(at.child('averageValue'), 'must specify a positive target averageValue'));
      break;
    case 'containerResource':
    case 'resource': {
      const { name } = metric[source]!;
      if (!name) errors.push(required(path.child('name'), 'must specify a resource name'));
      else if (source === 'containerResource') validateContainerResourceName(errors, name, () => path.child('name'));
      if (source === 'containerResource') {
        const { container } = metric.containerResource!;
        if (!container) errors.push(required(path.child('container'), 'must specify a container'));
        else check(errors, isDNS1123Label(container), container, path, 'container');
      }
      validateTarget(errors, target, at);
      if (averageUtilization === undefined && averageValue === undefined) {
        errors.push(required(at.child('averageUtilization'), 'must set either a target raw value or a target utilization'));
      }
      if (averageUtilization !== undefined && averageValue !== undefined) {
        errors.push(forbidden(at.child('averageValue'), 'may not set both a target raw value and a target utilization'));
      }
    }
  }
}

function validateIdentifier(errors: FieldError[], { name }: MetricIdentifier = {}, path: Path): void {
  if (!name) errors.push(required(path.child('metric', 'name'), 'must specify a metric name'));
  else check(errors, isValidPathSegmentName(name), name, path.child('metric'), 'name');
}

function validateTarget(errors: FieldError[], target: MetricTarget, path: Path): void {
  const { type = '', averageUtilization } = target;
  if (type === '') errors.push(required(path.child('type'), 'must specify a metric target type'));
  if (!['Utilization', 'Value', 'AverageValue'].includes(type))
    errors.push(invalid(path.child('type'), named(type), 'must be either Utilization, Value, or AverageValue'));
  for (const field of ['value', 'averageValue'] as const) {
    const amount = target[field];
    if (amount !== undefined && quantityOf(amount).sign !== 1) errors.push(invalid(path.child(field), amount, 'must be positive'));
  }
  if (averageUtilization !== undefined && averageUtilization < 1)
    errors.push(invalid(path.child('averageUtilization'), averageUtilization, 'must be greater than 0'));
}

function validateRules(errors: FieldError[], rules: HPAScalingRules, path: Path): void {
  const { stabilizationWindowSeconds: seconds, selectPolicy, policies = [], tolerance } = rules;
  if (seconds !== undefined && seconds < 0)
    errors.push(invalid(path.child('stabilizationWindowSeconds'), seconds, 'must be greater than or equal to zero'));
  if (seconds !== undefined && seconds > maxStabilizationWindowSeconds) {
    errors.push(
      invalid(path.child('stabilizationWindowSeconds'), seconds, `must be less than or equal to ${maxStabilizationWindowSeconds}`),
    );
  }
  const selections = ['Disabled', 'Max', 'Min'];
  if (selectPolicy !== undefined && !selections.includes(selectPolicy))
    errors.push(notSupported(path.child('selectPolicy'), selectPolicy, selections));
  if (policies.length === 0) errors.push(required(path.child('policies'), 'must specify at least one Policy'));
  for (const [i, policy] of policies.entries()) validatePolicy(errors, policy, path.child('policies').index(i));
  if (tolerance !== undefined && quantityOf(tolerance).sign < 0) errors.push(invalid(path.child('tolerance'), tolerance, isNegative));
}

function validatePolicy(errors: FieldError[], { type = '', value = 0, periodSeconds = 0 }: HPAScalingPolicy, path: Path): void {
  if (type !== 'Pods' && type !== 'Percent') errors.push(notSupported(path.child('type'), type, ['Percent', 'Pods']));
  if (value <= 0) errors.push(invalid(path.child('value'), value, 'must be greater than zero'));
  if (periodSeconds <= 0) errors.push(invalid(path.child('periodSeconds'), periodSeconds, 'must be greater than zero'));
  if (periodSeconds > maxPeriodSeconds)
    errors.push(invalid(path.child('periodSeconds'), periodSeconds, `must be less than or equal to ${maxPeriodSeconds}`));
}

export function validateHorizontalPodAutoscalerStatusUpdate({ status = {} }: HorizontalPodAutoscaler): FieldError[] {
  const errors: FieldError[] = [];
  validateNonnegative(errors, status.currentReplicas, statusPath, 'currentReplicas');
  validateNonnegative(errors, status.desiredReplicas, statusPath, 'desiredReplicas');
  return errors;
}
