import { newBadRequest } from '#apimachinery/api/errors';
import { compareUtf8 } from '#apimachinery/runtime/json/json';
import { sortedSteps } from '#apimachinery/runtime/sorting';
import type { Steps } from '#apimachinery/runtime/steps';
import { isContainer } from '#apimachinery/runtime/numbers';
import { keysOf, noteKeys } from '#apimachinery/runtime/wide-objects';
import { cleanValueSteps } from './clean-value.ts';
import { jsonKind } from './json-patch.ts';
import { getOwn, isJsonObject, type JsonObject, setOwn } from './own-property.ts';

/** Checks that a merge patch is an object, like typed decoding with field validation Warn and Strict. Throws StatusError 400 otherwise. */
export function checkMergePatch(patch: unknown): asserts patch is JsonObject {
  if (isJsonObject(patch)) return;
  if (patch === null) throw newBadRequest('Invalid JSON Patch');
  throw newBadRequest(`error decoding patch: json: cannot unmarshal ${jsonKind(patch)} into Go value of type map[string]interface {}`);
}

const keysPerStep = 1_024;

/**
 * Applies an RFC 7386 patch with the behaviour of gopkg.in/evanphx/json-patch.v4. Unlike in the RFC, nulls within lists stay (but not those
 * of the objects in them), and a patch that replaces a value other than an object keeps no nulls. Inputs are not changed; the result shares
 * untouched values. `sorts` sorts the keys of changed objects, as Go encodes maps; that is visible only in raw content. Throws StatusError
 * 400 for a patch that is neither an object nor a list.
 */
export function* applyMergePatch(document: unknown, patch: unknown, sorts = false): Steps<unknown> {
  if (Array.isArray(patch)) return yield* withoutNullFields(patch);
  if (!isJsonObject(patch)) throw newBadRequest('Invalid JSON Patch');
  if (!isJsonObject(document)) return yield* withoutNullFields(patch);

  // An explicit stack, since patches may be as deep as JSON.
  const result: JsonObject = {};
  const pending: [target: JsonObject, current: JsonObject, changes: JsonObject][] = [[result, document, patch]];
  let mergedKeys = 0;
  while (pending.length > 0) {
    const [target, current, changes] = pending.pop()!;
    const keys: string[] = [];
    /** Returns the steps of a change that is not made at once. */
    const change = (key: string): Steps<void> | undefined => {
      const wanted = changes[key];
      if (wanted === null || wanted === undefined) return undefined;
      keys.push(key);
      const present = getOwn(current, key);
      if (isJsonObject(wanted) && isJsonObject(present)) {
        const merged: JsonObject = {};
        setOwn(target, key, merged);
        pending.push([merged, present, wanted]);
      } else if (isJsonObject(present) || !isContainer(wanted)) setOwn(target, key, wanted);
      else return add(target, key, wanted);
      return undefined;
    };
    // Copies the kept members: copying all and deleting some is many times slower for many keys.
    for (const key of sorts ? yield* keysInOrder(current, changes) : keysOf(current)) {
      if (Object.hasOwn(changes, key)) yield* change(key) ?? [];
      else if (current[key] !== undefined) {
        keys.push(key);
        setOwn(target, key, current[key]);
      }
      if (++mergedKeys % keysPerStep === 0) yield;
    }
    for (const key of keysOf(changes)) {
      if (!sorts && !Object.hasOwn(current, key)) yield* change(key) ?? [];
      if (++mergedKeys % keysPerStep === 0) yield;
    }
    noteKeys(target, keys);
  }
  return result;
}

function* add(target: JsonObject, key: string, wanted: object): Steps<void> {
  setOwn(target, key, yield* withoutNullFields(wanted));
}

const keysInOrder = (a: JsonObject, b: JsonObject): Steps<string[]> => sortedSteps([...new Set([...keysOf(a), ...keysOf(b)])], compareUtf8);

const withoutNullFields = (value: unknown): Steps<unknown> => cleanValueSteps(value, { keepDirectives: true });
