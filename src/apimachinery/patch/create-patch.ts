import { deepEqual } from '#apimachinery/runtime/equality';
import { sortedKeys, sortedKeysSteps } from '#apimachinery/runtime/json/json';
import { atOnce, type Steps } from '#apimachinery/runtime/steps';
import { isJsonObject, type JsonObject, setOwn } from './own-property.ts';

export interface JsonPatchOperation {
  readonly op: 'add' | 'remove' | 'replace';
  readonly path: string;
  readonly value?: unknown;
}

/** Deeper values are replaced as a whole: the patch need not be minimal there. */
const maxDepth = 500;

/**
 * Returns the operations that turn `before` into `after`, sorted by key; `applyJsonPatch` applies them. List items are compared by index.
 * The patch shares the values of `after`.
 */
export function createJsonPatch(before: unknown, after: unknown): JsonPatchOperation[] {
  return atOnce(createJsonPatchSteps(before, after));
}

/** Like `createJsonPatch`, but yields to the event loop. */
export function* createJsonPatchSteps(before: unknown, after: unknown): Steps<JsonPatchOperation[]> {
  const operations: JsonPatchOperation[] = [];
  yield* diff(before, after, '', operations, 0);
  return operations;
}

function* diff(before: unknown, after: unknown, path: string, out: JsonPatchOperation[], depth: number): Steps<void> {
  yield;
  if (depth < maxDepth && isJsonObject(before) && isJsonObject(after)) yield* diffObjects(before, after, path, out, depth + 1);
  else if (depth < maxDepth && Array.isArray(before) && Array.isArray(after)) yield* diffLists(before, after, path, out, depth + 1);
  else if (!deepEqual(before, after)) out.push({ op: 'replace', path, value: after });
}

function* diffObjects(before: JsonObject, after: JsonObject, path: string, out: JsonPatchOperation[], depth: number): Steps<void> {
  for (const key of yield* sortedKeysSteps(before)) {
    if (!Object.hasOwn(after, key)) out.push({ op: 'remove', path: `${path}/${escapeToken(key)}` });
    else if (before[key] !== after[key]) yield* diff(before[key], after[key], `${path}/${escapeToken(key)}`, out, depth);
  }
  yield;
  for (const key of yield* sortedKeysSteps(after)) {
    if (!Object.hasOwn(before, key)) out.push({ op: 'add', path: `${path}/${escapeToken(key)}`, value: after[key] });
  }
}

function* diffLists(
  before: readonly unknown[],
  after: readonly unknown[],
  path: string,
  out: JsonPatchOperation[],
  depth: number,
): Steps<void> {
  const shared = Math.min(before.length, after.length);
  for (let i = 0; i < shared; i++) if (before[i] !== after[i]) yield* diff(before[i], after[i], `${path}/${i}`, out, depth);
  for (let i = before.length - 1; i >= shared; i--) out.push({ op: 'remove', path: `${path}/${i}` });
  for (let i = shared; i < after.length; i++) out.push({ op: 'add', path: `${path}/${i}`, value: after[i] });
}

/** Escapes a token of a JSON pointer (RFC 6901). */
const escapeToken = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

/**
 * Returns the JSON merge patch (RFC 7386) that turns `before` into `after`; `{}` if they are equal. It shares the values of `after`. A null
 * in `after` cannot be expressed and becomes a removal.
 */
export function createMergePatch(before: JsonObject, after: JsonObject): JsonObject {
  return mergeDiff(before, after, 0);
}

function mergeDiff(before: JsonObject, after: JsonObject, depth: number): JsonObject {
  const patch: JsonObject = {};
  for (const key of sortedKeys(after)) {
    const value = after[key];
    const old = Object.hasOwn(before, key) ? before[key] : undefined;
    if (old === value && old !== undefined) continue;
    if (depth < maxDepth && isJsonObject(old) && isJsonObject(value)) {
      const inner = mergeDiff(old, value, depth + 1);
      if (Object.keys(inner).length > 0) setOwn(patch, key, inner);
    } else if (!deepEqual(old, value)) setOwn(patch, key, value);
  }
  for (const key of sortedKeys(before)) if (!Object.hasOwn(after, key)) setOwn(patch, key, null);
  return patch;
}
