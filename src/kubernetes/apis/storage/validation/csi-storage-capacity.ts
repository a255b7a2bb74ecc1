/** Validation of CSI storage capacities. Upstream: pkg/apis/storage/validation/validation.go. */
import { semanticDeepEqual } from '#apimachinery/runtime/semantic-equality';
import { addErrors, type FieldError, fieldPath, invalid } from '#apimachinery/validation/field';
import { nameIsDNSSubdomain } from '#apimachinery/validation/names';
import { fieldImmutableError } from '#apimachinery/validation/object-meta';
import { check, isNegative, quantityOf } from '#kubernetes/apis/core/validation/checks';
import { validateMetaAgain } from '#kubernetes/apis/core/validation/object-meta';
import { selectorValue, validateSelector } from '#kubernetes/apis/pod-template';
import type { CSIStorageCapacity } from '#kubernetes/schema/storage_v1.gen';

export function validateCSIStorageCapacity({ nodeTopology, storageClassName = '', capacity }: CSIStorageCapacity): FieldError[] {
  const errors: FieldError[] = [];
  validateSelector(errors, nodeTopology, fieldPath('nodeTopology'));
  check(errors, nameIsDNSSubdomain(storageClassName, false), storageClassName, fieldPath('storageClassName'));
  if (capacity !== undefined && quantityOf(capacity).sign < 0) errors.push(invalid(fieldPath('capacity'), capacity, isNegative));
  return errors;
}

export function validateCSIStorageCapacityUpdate(capacity: CSIStorageCapacity, old: CSIStorageCapacity): FieldError[] {
  const { metadata, nodeTopology, storageClassName = '' } = capacity;
  const errors: FieldError[] = [];
  validateMetaAgain(errors, metadata, nameIsDNSSubdomain);
  addErrors(errors, validateCSIStorageCapacity(capacity));
  if (!semanticDeepEqual(nodeTopology, old.nodeTopology))
    errors.push(invalid(fieldPath('nodeTopology'), selectorValue(nodeTopology), fieldImmutableError));
  if (storageClassName !== (old.storageClassName ?? ''))
    errors.push(invalid(fieldPath('storageClassName'), storageClassName, fieldImmutableError));
  return errors;
}
