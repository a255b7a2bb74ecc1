/** Validation of storage classes. Upstream: pkg/apis/storage/validation/validation.go. */
import { semanticDeepEqual } from '#apimachinery/runtime/semantic-equality';
import {
  addError,
  addErrors,
  type FieldError,
  type Path,
  duplicate,
  fieldPath,
  invalid,
  notSupported,
  required,
  named,
} from '#apimachinery/validation/field';
import { nameIsDNSSubdomain } from '#apimachinery/validation/names';
import { fieldImmutableError, validateLabelName } from '#apimachinery/validation/object-meta';
import { validateMetaAgain } from '#kubernetes/apis/core/validation/object-meta';
import type { TopologySelectorTerm } from '#kubernetes/schema/core_v1.gen';
import type { StorageClass } from '#kubernetes/schema/storage_v1.gen';
import { validateParameters, validateProvisioner } from './parameters.ts';

const reclaimPolicies = ['Delete', 'Retain'];
const bindingModes = ['Immediate', 'WaitForFirstConsumer'];

export function validateStorageClass({
  provisioner,
  parameters,
  reclaimPolicy,
  volumeBindingMode: mode,
  allowedTopologies,
}: StorageClass): FieldError[] {
  const errors: FieldError[] = [];
  validateProvisioner(errors, provisioner, fieldPath('provisioner'));
  validateParameters(errors, parameters, fieldPath('parameters'));
  if (reclaimPolicy && !reclaimPolicies.includes(reclaimPolicy))
    errors.push(notSupported(fieldPath('reclaimPolicy'), reclaimPolicy, reclaimPolicies));
  if (mode === undefined) errors.push(required(fieldPath('volumeBindingMode')));
  else if (!bindingModes.includes(mode)) errors.push(notSupported(fieldPath('volumeBindingMode'), mode, bindingModes));
  if (allowedTopologies) validateTopologies(errors, allowedTopologies, fieldPath('allowedTopologies'));
  return errors;
}

export function validateStorageClassUpdate(storageClass: StorageClass, old: StorageClass): FieldError[] {
  const errors: FieldError[] = [];
  validateMetaAgain(errors, storageClass.metadata, nameIsDNSSubdomain, false);
  addErrors(errors, validateStorageClass(storageClass));
  const { parameters, provisioner = '', reclaimPolicy, volumeBindingMode } = storageClass;
  for (const [field, value] of Object.entries({ parameters, provisioner, reclaimPolicy, volumeBindingMode })) {
    if (!semanticDeepEqual(value, old[field]))
      errors.push(invalid(fieldPath(field), field === 'provisioner' ? value : named(value), fieldImmutableError));
  }
  return errors;
}

function validateTopologies(errors: FieldError[], terms: readonly TopologySelectorTerm[], path: Path): void {
  // Upstream's list starts with as many empty terms as there are terms, so that an empty term is always a duplicate.
  const seen = new Map([['[]', terms.length]]);
  for (const [i, { matchLabelExpressions = [] }] of terms.entries()) {
    const at = path.index(i).child('matchLabelExpressions');
    const values = new Map<string, readonly string[]>();
    for (const [j, { key = '', values: own = [] }] of matchLabelExpressions.entries()) {
      if (own.length === 0) errors.push(required(at.index(j).child('values')));
      const distinct = new Set<string>();
      for (const [k, value] of own.entries()) {
        if (distinct.has(value)) errors.push(duplicate(at.index(j).child('values').index(k), value));
        distinct.add(value);
      }
      addErrors(errors, validateLabelName(key, at.index(j).child('key')));
      if (values.has(key)) errors.push(duplicate(at.index(j).child('key'), key));
      values.set(key, [...distinct].sort());
    }
    const term = JSON.stringify([...values].sort(([a], [b]) => (a < b ? -1 : 1)));
    const times = seen.get(term) ?? 0;
    // One error for each equal term.
    for (let time = 0; time < times; time += 1) addError(errors, duplicate(at, ''));
    seen.set(term, times + 1);
  }
}
