import { newBadRequest } from '#apimachinery/api/errors';
import { cleanValue } from './clean-value.ts';
import { jsonKind } from './json-patch.ts';
import { isJsonObject, type JsonObject, setOwn } from './own-property.ts';

/**
 * Checks that a merge patch is an object, as the server's typed decoding does under field validation Warn and Strict.
 * Throws the StatusError 400 otherwise.
 */
export function checkMergePatch(patch: unknown): asserts patch is JsonObject {
  if (isJsonObject(patch)) return;
  if (patch === null) throw newBadRequest('Invalid JSON Patch');
  throw newBadRequest(`error decoding patch: json: cannot unmarshal ${jsonKind(patch)} into Go value of type map[string]interface {}`);
}

/**
 * Applies an RFC 7386 patch with the behaviour of gopkg.in/evanphx/json-patch.v4. Unlike the RFC's algorithm, nulls within
 * lists stay (but not those of the objects in them), and a patch that replaces a value which is no object keeps no nulls.
 * Neither input is changed; the result shares what the patch did not touch. Throws the StatusError 400 for a patch that is
 * neither object nor list.
 */
export function applyMergePatch(document: unknown, patch: unknown): unknown {
  if (Array.isArray(patch)) return withoutNullFields(patch);
  if (!isJsonObject(patch)) throw newBadRequest('Invalid JSON Patch');
  if (!isJsonObject(document)) return withoutNullFields(patch);

  // Patches may be as deep as JSON may be, so the pairs that are left to merge stand on a stack of our own.
  const result: JsonObject = { ...document };
  const pending: [JsonObject, JsonObject][] = [[result, patch]];
  while (pending.length > 0) {
    const [target, changes] = pending.pop()!;
    for (const key of Object.keys(changes)) {
      const change = changes[key];
      if (change === null) {
        delete target[key];
        continue;
      }
      const current = Object.hasOwn(target, key) ? target[key] : undefined;
      if (isJsonObject(change) && isJsonObject(current)) {
        const merged = { ...current };
        setOwn(target, key, merged);
        pending.push([merged, change]);
      } else setOwn(target, key, isJsonObject(current) ? change : withoutNullFields(change));
    }
  }
  return result;
}

const withoutNullFields = (value: unknown): unknown => cleanValue(value, { keepDirectives: true });
