import type { KubeObject } from '#apimachinery/meta/types';
import { semanticDeepEqual } from '#apimachinery/runtime/semantic-equality';
import { type FieldError, fieldPath, forbidden } from '#apimachinery/validation/field';

/** Validates an update of an immutable config map or secret: these fields must not change, and it must stay immutable. */
export function validateImmutable(object: KubeObject, old: KubeObject, ...fields: string[]): FieldError[] {
  const detail = 'field is immutable when `immutable` is set';
  return [
    ...(object.immutable ? [] : [forbidden(fieldPath('immutable'), detail)]),
    ...fields.filter((field) => !semanticDeepEqual(object[field], old[field])).map((field) => forbidden(fieldPath(field), detail)),
  ];
}
