import type { ObjectMeta } from '#apimachinery/meta/types';
import { addErrors, type FieldError, fieldPath } from '#apimachinery/validation/field';
import type { ValidateNameFunc } from '#apimachinery/validation/names';
import { validateKubeFinalizerNames, validateObjectMeta } from '#apimachinery/validation/object-meta';

/**
 * The metadata rules of a new object, for kinds whose validation of updates starts with that of new objects: clients see what
 * is wrong with labels once more than for other kinds.
 */
export function validateMetaAgain(errors: FieldError[], meta: ObjectMeta, nameFn: ValidateNameFunc, namespaced = true): void {
  const path = fieldPath('metadata');
  addErrors(errors, validateObjectMeta(meta, { namespaced, nameFn }, path));
  if (meta.finalizers) addErrors(errors, validateKubeFinalizerNames(meta.finalizers, path.child('finalizers')));
}
