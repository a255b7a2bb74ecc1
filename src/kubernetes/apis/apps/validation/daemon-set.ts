import type { ServerTraits } from '#apiserver/registry/resource-definition';
import { labelSelectorHasInvalidLabelValue } from '#apimachinery/validation/object-meta';
import { type FieldError, invalid, notSupported, required } from '#apimachinery/validation/field';
import { type PodOptions, templateOptions } from '#kubernetes/apis/core/validation/pod-options';
import { validatePodTemplateSpec } from '#kubernetes/apis/core/validation/pod-spec';
import { validateImmutable } from '#kubernetes/apis/immutable-field';
import { intOrPercentValue, validateNotMoreThan100Percent, validatePositiveIntOrPercent } from '#kubernetes/apis/int-or-percent';
import { isEmptySelector, selects, selectorValue, templateLabelsError, validateSelector } from '#kubernetes/apis/pod-template';
import { structValue } from '#kubernetes/apis/struct-value';
import type { DaemonSet, DaemonSetSpec, DaemonSetUpdateStrategy, RollingUpdateDaemonSet } from '#kubernetes/schema/apps_v1.gen';
import { noTemplate, specPath, validateCollisionCount, validateCount, validateCounts, validateRunsForever } from './workload.ts';

const noSpec: DaemonSetSpec = {};

export function validateDaemonSet({ spec = noSpec }: DaemonSet, server: ServerTraits): FieldError[] {
  const errors: FieldError[] = [];
  validateSpec(errors, spec, templateOptions(undefined, server), false);
  return errors;
}

export function validateDaemonSetUpdate({ spec = noSpec }: DaemonSet, old: DaemonSet, server: ServerTraits): FieldError[] {
  const errors: FieldError[] = [];
  validateImmutable(errors, spec.selector, old.spec?.selector, specPath, 'selector', selectorValue);
  const hadInvalidValue = labelSelectorHasInvalidLabelValue(old.spec?.selector as Parameters<typeof labelSelectorHasInvalidLabelValue>[0]);
  validateSpec(errors, spec, templateOptions(old.spec?.template, server), hadInvalidValue);
  return errors;
}

function validateSpec(errors: FieldError[], spec: DaemonSetSpec, options: PodOptions, allowInvalidLabelValue: boolean): void {
  const { selector, template = noTemplate } = spec;
  const path = specPath.child('template');
  validateSelector(errors, selector, specPath.child('selector'), allowInvalidLabelValue || options.allowInvalidLabelValueInSelector);
  if (selects(selector, template.metadata?.labels) === false) errors.push(templateLabelsError(template, path));
  if (selector && isEmptySelector(selector))
    errors.push(invalid(specPath.child('selector'), selectorValue(selector), 'empty selector is invalid for daemonset'));
  validatePodTemplateSpec(errors, template, path, options);
  validateRunsForever(errors, template, 'DaemonSet');
  validateCount(errors, spec.minReadySeconds, specPath, 'minReadySeconds');
  validateUpdateStrategy(errors, spec.updateStrategy ?? {});
  validateCount(errors, spec.revisionHistoryLimit, specPath, 'revisionHistoryLimit');
}

function validateUpdateStrategy(errors: FieldError[], { type = '', rollingUpdate }: DaemonSetUpdateStrategy): void {
  if (type === 'OnDelete') return;
  if (type !== 'RollingUpdate') {
    const { maxUnavailable = 0, maxSurge = 0 } = rollingUpdate ?? {};
    const value = structValue({ Type: type, RollingUpdate: rollingUpdate && { MaxUnavailable: maxUnavailable, MaxSurge: maxSurge } });
    errors.push(notSupported(specPath.child('updateStrategy'), value, ['RollingUpdate', 'OnDelete']));
  } else if (!rollingUpdate) errors.push(required(specPath.child('updateStrategy', 'rollingUpdate')));
  else validateRollingUpdate(errors, rollingUpdate);
}

function validateRollingUpdate(errors: FieldError[], { maxUnavailable, maxSurge }: RollingUpdateDaemonSet): void {
  const path = specPath.child('updateStrategy', 'rollingUpdate');
  validatePositiveIntOrPercent(errors, maxUnavailable, path, 'maxUnavailable');
  validatePositiveIntOrPercent(errors, maxSurge, path, 'maxSurge');
  validateNotMoreThan100Percent(errors, maxUnavailable, path, 'maxUnavailable');
  validateNotMoreThan100Percent(errors, maxSurge, path, 'maxSurge');
  const [unavailable, surge] = [intOrPercentValue(maxUnavailable) !== 0, intOrPercentValue(maxSurge) !== 0];
  if (unavailable && surge) errors.push(invalid(path.child('maxSurge'), maxSurge ?? 0, 'may not be set when maxUnavailable is non-zero'));
  if (!unavailable && !surge) errors.push(required(path.child('maxUnavailable'), 'cannot be 0 when maxSurge is 0'));
}

export function validateDaemonSetStatusUpdate({ status = {} }: DaemonSet, old: DaemonSet): FieldError[] {
  const errors: FieldError[] = [];
  validateCounts(
    errors,
    status,
    'currentNumberScheduled',
    'numberMisscheduled',
    'desiredNumberScheduled',
    'numberReady',
    'observedGeneration',
    'updatedNumberScheduled',
    'numberAvailable',
    'numberUnavailable',
    'collisionCount',
  );
  validateCollisionCount(errors, status, old.status);
  return errors;
}
