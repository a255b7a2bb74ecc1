import type { ServerTraits } from '#apiserver/registry/resource-definition';
import type { FieldError } from '#apimachinery/validation/field';
import { type PodOptions, templateOptions } from '#kubernetes/apis/core/validation/pod-options';
import { validateImmutable } from '#kubernetes/apis/immutable-field';
import { selectorValue } from '#kubernetes/apis/pod-template';
import type { ReplicaSet, ReplicaSetSpec } from '#kubernetes/schema/apps_v1.gen';
import {
  specPath,
  validateAvailable,
  validateCount,
  validateCounts,
  validateNotAboveReplicas,
  validateSelectorAndTemplate,
} from './workload.ts';

const noSpec: ReplicaSetSpec = {};

export function validateReplicaSet({ spec = noSpec }: ReplicaSet, server: ServerTraits): FieldError[] {
  const errors: FieldError[] = [];
  validateSpec(errors, spec, templateOptions(undefined, server));
  return errors;
}

export function validateReplicaSetUpdate({ spec = noSpec }: ReplicaSet, old: ReplicaSet, server: ServerTraits): FieldError[] {
  const errors: FieldError[] = [];
  validateSpec(errors, spec, templateOptions(old.spec?.template, server));
  validateImmutable(errors, spec.selector, old.spec?.selector, specPath, 'selector', selectorValue);
  return errors;
}

function validateSpec(errors: FieldError[], spec: ReplicaSetSpec, options: PodOptions): void {
  validateCount(errors, spec.replicas, specPath, 'replicas');
  validateCount(errors, spec.minReadySeconds, specPath, 'minReadySeconds');
  validateSelectorAndTemplate(errors, spec.selector, spec.template, options);
}

export function validateReplicaSetStatusUpdate({ status = {} }: ReplicaSet): FieldError[] {
  const errors: FieldError[] = [];
  validateCounts(
    errors,
    status,
    'replicas',
    'fullyLabeledReplicas',
    'readyReplicas',
    'availableReplicas',
    'observedGeneration',
    'terminatingReplicas',
  );
  validateNotAboveReplicas(errors, status, 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas');
  validateAvailable(errors, status);
  return errors;
}
