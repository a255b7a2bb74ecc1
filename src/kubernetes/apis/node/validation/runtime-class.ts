/** Validation of runtime classes. Upstream: pkg/apis/node/validation/validation.go. */
import type { ServerTraits } from '#apiserver/registry/resource-definition';
import { addErrors, type FieldError, duplicate, fieldPath, required } from '#apimachinery/validation/field';
import { nameIsDNSLabel, nameIsDNSSubdomain } from '#apimachinery/validation/names';
import { validateImmutableField, validateLabels, validateObjectMeta } from '#apimachinery/validation/object-meta';
import { validateTolerations } from '#kubernetes/apis/core/validation/affinity';
import { check } from '#kubernetes/apis/core/validation/checks';
import { internalValue } from '#kubernetes/apis/core/validation/internal';
import { type PodOptions, templateOptions } from '#kubernetes/apis/core/validation/pod-options';
import { validateContainerResourceRequirements } from '#kubernetes/apis/core/validation/resources';
import type { RuntimeClass, Scheduling } from '#kubernetes/schema/node_v1.gen';

const none: ReadonlySet<string> = new Set();

export function validateRuntimeClass({ handler, overhead, scheduling }: RuntimeClass, server: ServerTraits): FieldError[] {
  const errors: FieldError[] = [];
  const options = templateOptions(undefined, server);
  if (!handler) errors.push(required(fieldPath('handler')));
  else check(errors, nameIsDNSLabel(handler, false), handler, fieldPath('handler'));
  if (overhead)
    validateContainerResourceRequirements(
      errors,
      overhead.podFixed ? { limits: overhead.podFixed } : {},
      none,
      fieldPath('overhead'),
      options,
    );
  if (scheduling) validateScheduling(errors, scheduling, options);
  return errors;
}

export function validateRuntimeClassUpdate(runtimeClass: RuntimeClass, old: RuntimeClass, server: ServerTraits): FieldError[] {
  const errors: FieldError[] = [];
  addErrors(errors, validateObjectMeta(runtimeClass.metadata, { namespaced: false, nameFn: nameIsDNSSubdomain }, fieldPath('metadata')));
  addErrors(errors, validateRuntimeClass(runtimeClass, server));
  addErrors(errors, validateImmutableField(runtimeClass.handler, old.handler, fieldPath('handler')));
  return errors;
}

function validateScheduling(errors: FieldError[], { nodeSelector, tolerations = [] }: Scheduling, options: PodOptions): void {
  if (nodeSelector) addErrors(errors, validateLabels(nodeSelector, fieldPath('scheduling', 'nodeSelector')));
  const path = fieldPath('scheduling', 'tolerations');
  validateTolerations(errors, tolerations, path, options);
  const seen = new Set<string>();
  for (const [i, toleration] of tolerations.entries()) {
    const { key = '', operator = '', value = '', effect = '' } = toleration;
    const identity = JSON.stringify([key, operator, value, effect]);
    if (seen.has(identity)) errors.push(duplicate(path.index(i), internalValue('Toleration', toleration)));
    seen.add(identity);
  }
}
