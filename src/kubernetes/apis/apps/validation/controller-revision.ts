import { isJsonObject } from '#apimachinery/patch/own-property';
import { encodeRawJson } from '#apimachinery/runtime/json/json';
import { type FieldError, fieldPath, invalid, JsonText, required } from '#apimachinery/validation/field';
import { nameIsDNSSubdomain } from '#apimachinery/validation/names';
import { fieldImmutableError } from '#apimachinery/validation/object-meta';
import { validateMetaAgain } from '#kubernetes/apis/core/validation/object-meta';
import type { ControllerRevision } from '#kubernetes/schema/apps_v1.gen';

export function validateControllerRevision(revision: ControllerRevision): FieldError[] {
  const errors: FieldError[] = [];
  validateRevision(errors, revision);
  const { data } = revision;
  if (data === undefined || data === null) errors.push(required(fieldPath('data'), 'data is mandatory'));
  else if (!isJsonObject(data)) errors.push(required(fieldPath('data'), 'data must be a valid JSON object'));
  return errors;
}

export function validateControllerRevisionUpdate(revision: ControllerRevision, old: ControllerRevision): FieldError[] {
  const errors: FieldError[] = [];
  validateMetaAgain(errors, revision.metadata, nameIsDNSSubdomain);
  validateRevision(errors, revision);
  // Raw content is compared by its encoding.
  const data = encodeRawJson(revision.data);
  if (data !== encodeRawJson(old.data)) errors.push(invalid(fieldPath('data'), new JsonText(data), fieldImmutableError));
  return errors;
}

function validateRevision(errors: FieldError[], { revision }: ControllerRevision): void {
  if ((revision ?? 0) < 0) errors.push(invalid(fieldPath('revision'), revision, 'must be greater than or equal to 0'));
}
