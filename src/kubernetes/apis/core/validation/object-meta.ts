import type { ObjectMeta } from '#apimachinery/meta/types';
import { addErrors, type FieldError, fieldPath } from '#apimachinery/validation/field';
import type { ValidateNameFunc } from '#apimachinery/validation/names';
import { validateKubeFinalizerNames, validateObjectMeta, validateObjectMetaUpdate } from '#apimachinery/validation/object-meta';

/**
 * Validates the metadata of a new object. Kinds whose update validation starts with that of new objects report label errors twice, and
 * clients see both.
 */
export function validateMetaAgain(errors: FieldError[], meta: ObjectMeta, nameFn: ValidateNameFunc, namespaced = true): void {
  const path = fieldPath('metadata');
  addErrors(errors, validateObjectMeta(meta, { namespaced, nameFn }, path));
  if (meta.finalizers) addErrors(errors, validateKubeFinalizerNames(meta.finalizers, path.child('finalizers')));
}

/** Validates the metadata of an update, for kinds with `genericMeta: 'update'` whose validation does so after other checks. */
export function validateMetaUpdateAgain(errors: FieldError[], meta: ObjectMeta, old: ObjectMeta): void {
  const path = fieldPath('metadata');
  addErrors(errors, validateObjectMetaUpdate(meta, old, path));
  if (meta.finalizers) addErrors(errors, validateKubeFinalizerNames(meta.finalizers, path.child('finalizers')));
}
