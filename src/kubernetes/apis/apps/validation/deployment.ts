import type { ServerTraits } from '#apiserver/registry/resource-definition';
import { type FieldError, forbidden, invalid, notSupported, required } from '#apimachinery/validation/field';
import { type PodOptions, templateOptions } from '#kubernetes/apis/core/validation/pod-options';
import { validateImmutable } from '#kubernetes/apis/immutable-field';
import { intOrPercentValue, validateNotMoreThan100Percent, validatePositiveIntOrPercent } from '#kubernetes/apis/int-or-percent';
import { selectorValue } from '#kubernetes/apis/pod-template';
import { structValue } from '#kubernetes/apis/struct-value';
import type { Deployment, DeploymentSpec, DeploymentStrategy, RollingUpdateDeployment } from '#kubernetes/schema/apps_v1.gen';
import {
  specPath,
  validateAvailable,
  validateCollisionCount,
  validateCount,
  validateCounts,
  validateNotAboveReplicas,
  validateSelectorAndTemplate,
} from './workload.ts';

const noSpec: DeploymentSpec = {};

export function validateDeployment({ spec = noSpec }: Deployment, server: ServerTraits): FieldError[] {
  const errors: FieldError[] = [];
  validateSpec(errors, spec, templateOptions(undefined, server));
  return errors;
}

export function validateDeploymentUpdate({ spec = noSpec }: Deployment, old: Deployment, server: ServerTraits): FieldError[] {
  const errors: FieldError[] = [];
  validateSpec(errors, spec, templateOptions(old.spec?.template, server));
  validateImmutable(errors, spec.selector, old.spec?.selector, specPath, 'selector', selectorValue);
  return errors;
}

function validateSpec(errors: FieldError[], spec: DeploymentSpec, options: PodOptions): void {
  validateCount(errors, spec.replicas, specPath, 'replicas');
  validateSelectorAndTemplate(errors, spec.selector, spec.template, options);
  validateStrategy(errors, spec.strategy ?? {});
  validateCount(errors, spec.minReadySeconds, specPath, 'minReadySeconds');
  validateCount(errors, spec.revisionHistoryLimit, specPath, 'revisionHistoryLimit');
  validateCount(errors, spec.progressDeadlineSeconds, specPath, 'progressDeadlineSeconds');
  if (spec.progressDeadlineSeconds !== undefined && spec.progressDeadlineSeconds <= (spec.minReadySeconds ?? 0)) {
    errors.push(invalid(specPath.child('progressDeadlineSeconds'), spec.progressDeadlineSeconds, 'must be greater than minReadySeconds'));
  }
}

function validateStrategy(errors: FieldError[], { type = '', rollingUpdate }: DeploymentStrategy): void {
  switch (type) {
    case 'Recreate':
      if (rollingUpdate)
        errors.push(forbidden(specPath.child('strategy', 'rollingUpdate'), "may not be specified when strategy `type` is 'Recreate'"));
      break;
    case 'RollingUpdate':
      if (!rollingUpdate) errors.push(required(specPath.child('strategy', 'rollingUpdate'), 'this should be defaulted and never be nil'));
      else validateRollingUpdate(errors, rollingUpdate);
      break;
    default: {
      const { maxUnavailable = 0, maxSurge = 0 } = rollingUpdate ?? {};
      const value = structValue({ Type: type, RollingUpdate: rollingUpdate && { MaxUnavailable: maxUnavailable, MaxSurge: maxSurge } });
      errors.push(notSupported(specPath.child('strategy'), value, ['Recreate', 'RollingUpdate']));
    }
  }
}

function validateRollingUpdate(errors: FieldError[], { maxUnavailable, maxSurge }: RollingUpdateDeployment): void {
  const path = specPath.child('strategy', 'rollingUpdate');
  validatePositiveIntOrPercent(errors, maxUnavailable, path, 'maxUnavailable');
  validatePositiveIntOrPercent(errors, maxSurge, path, 'maxSurge');
  if (intOrPercentValue(maxUnavailable) === 0 && intOrPercentValue(maxSurge) === 0) {
    errors.push(invalid(path.child('maxUnavailable'), maxUnavailable ?? 0, 'may not be 0 when `maxSurge` is 0'));
  }
  validateNotMoreThan100Percent(errors, maxUnavailable, path, 'maxUnavailable');
}

export function validateDeploymentStatusUpdate({ status = {} }: Deployment, old: Deployment): FieldError[] {
  const errors: FieldError[] = [];
  validateCounts(
    errors,
    status,
    'observedGeneration',
    'replicas',
    'updatedReplicas',
    'readyReplicas',
    'availableReplicas',
    'unavailableReplicas',
    'terminatingReplicas',
    'collisionCount',
  );
  validateNotAboveReplicas(errors, status, 'updatedReplicas', 'readyReplicas', 'availableReplicas');
  validateAvailable(errors, status);
  validateCollisionCount(errors, status, old.status);
  return errors;
}
