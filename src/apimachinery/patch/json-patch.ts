import { newBadRequest, newRequestEntityTooLargeError } from '#apimachinery/api/errors';
import { deepCopySteps } from '#apimachinery/runtime/copy';
import { equalLiteralsSteps } from '#apimachinery/runtime/equality';
import { sortedKeysSteps } from '#apimachinery/runtime/json/json';
import { maxNestingDepth } from '#apimachinery/runtime/json/json-scan';
import { resolveRepeatedKeys, withoutRepeatedKeys } from '#apimachinery/runtime/json/repeated-keys';
import { isContainer as isAnyContainer, isNumber, literalOf } from '#apimachinery/runtime/numbers';
import { quote } from '#apimachinery/runtime/quote';
import { atOnce, type Steps } from '#apimachinery/runtime/steps';
import { keysOf, noteKeys, presentKeys } from '#apimachinery/runtime/wide-objects';
import { getOwn, isJsonObject, type JsonObject, setOwn } from './own-property.ts';

/** Maximum number of operations of a patch; apiserver/pkg/endpoints/handlers/patch.go. */
export const maxJsonPatchOperations = 10_000;
/** Maximum number of JSON bytes that the copy operations of a patch may add; apiserver/pkg/server/config.go. */
export const maxAccumulatedCopySize = 3 * 1024 * 1024;

/** Error for a well-formed JSON patch that does not apply; the server returns 422 (see `interpretPatchError`). */
export class JsonPatchError extends Error {
  override readonly name: string = 'JsonPatchError';
}

/** Error for a `test` operation with another value. */
export class TestFailedError extends JsonPatchError {
  override readonly name = 'TestFailedError';
}

/** The decoded operations of a patch, which can be applied repeatedly. */
export class JsonPatch {
  /** `strictErrors` are unknown fields of operations, in the form of strict decoding: `json patch unknown field "[0].foo"`. */
  constructor(
    readonly operations: readonly JsonObject[],
    readonly strictErrors: readonly string[],
  ) {}
}

/** Upstream's parser keeps this number and drops the rest: sigs.k8s.io/json. */
const maxStrictErrors = 100;
const textFields = ['op', 'path', 'from'] as const;
/** Paths of the fields of an operation and of the values in them. */
const operationField = /^\[\d+\]\.(?:op|path|from|value)(?:[.[]|$)/;

export interface PatchDecoding {
  /** True if unknown fields are errors. Default: true. */
  readonly isStrict?: boolean;
  /** Duplicate fields that the parser found. */
  readonly duplicateFields?: readonly string[];
  /** Maximum number of operations. Default: that of a client's patch; upstream has none for patches of webhooks. */
  readonly mostOperations?: number;
}

/**
 * Decodes the operations of a parsed patch document. With `isStrict` (field validation Warn or Strict) it reports unknown fields, and those of
 * `duplicateFields` (of the parser) that are known, like upstream's typed decoding. Throws StatusError 400 for a document that is not a list of objects, and 413 for too many operations.
 */
export function decodeJsonPatch(patch: unknown, options: PatchDecoding = {}): JsonPatch {
  return atOnce(decodeJsonPatchSteps(patch, options));
}

/** Like `decodeJsonPatch`, but yields to the event loop. */
export function* decodeJsonPatchSteps(patch: unknown, options: PatchDecoding = {}): Steps<JsonPatch> {
  const { isStrict = true, duplicateFields = [], mostOperations = maxJsonPatchOperations } = options;
  const strictErrors: string[] = [];
  if (isStrict) yield* checkShape(patch, strictErrors);
  const duplicates = duplicateFields.filter((path) => operationField.test(path));
  strictErrors.push(...duplicates.map((path) => `json patch duplicate field ${quote(path)}`));
  if (patch === null) return new JsonPatch([], strictErrors);
  if (!Array.isArray(patch)) throw newBadRequest(cannotUnmarshal(patch, 'jsonpatch.Patch'));
  const operations: JsonObject[] = [];
  for (const operation of patch as readonly unknown[]) {
    if (operations.length % membersPerStep === 0) yield;
    if (operation !== null && !isJsonObject(operation)) throw newBadRequest(cannotUnmarshal(operation, 'jsonpatch.Operation'));
    operations.push(operation ?? {});
  }
  if (operations.length > mostOperations) {
    throw newRequestEntityTooLargeError(`The allowed maximum operations in a JSON patch is ${mostOperations}, got ${operations.length}`);
  }
  return new JsonPatch(operations, strictErrors);
}

function* checkShape(patch: unknown, strictErrors: string[]): Steps<void> {
  if (patch === null) return;
  if (!Array.isArray(patch)) throw decodingError(cannotUnmarshal(patch, '[]handlers.jsonPatchOp'));
  for (const [index, operation] of (patch as readonly unknown[]).entries()) {
    if (index % membersPerStep === 0) yield;
    if (operation === null) continue;
    if (!isJsonObject(operation)) throw decodingError(cannotUnmarshal(operation, 'handlers.jsonPatchOp'));
    for (const field of textFields) {
      const value = getOwn(operation, field);
      if (value === undefined || value === null || typeof value === 'string') continue;
      throw decodingError(`json: cannot unmarshal ${jsonKind(value)} into Go struct field jsonPatchOp.${field} of type string`);
    }
    for (const field of strictErrors.length < maxStrictErrors ? keysOf(operation) : []) {
      if (field === 'value' || (textFields as readonly string[]).includes(field)) continue;
      strictErrors.push(`json patch unknown field ${quote(`[${index}].${field}`)}`);
      if (strictErrors.length === maxStrictErrors) break;
    }
  }
}

const decodingError = (message: string) => newBadRequest(`error decoding patch: ${message}`);
const cannotUnmarshal = (value: unknown, type: string) => `json: cannot unmarshal ${jsonKind(value)} into Go value of type ${type}`;

/** Returns encoding/json's word for the type of a value. */
export function jsonKind(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  switch (typeof value) {
    case 'boolean':
      return 'bool';
    default:
      return isNumber(value) ? 'number' : typeof value;
  }
}

/**
 * Applies an RFC 6902 patch with the behaviour of gopkg.in/evanphx/json-patch.v4, which differs from the RFC: negative indexes count from
 * the end, `replace` of a missing field adds it, a `copy` of a missing field adds null, `test` of a missing field succeeds against null,
 * and text before the first `/` of a path is ignored. Inputs are not changed; the result shares untouched values. `patch` is a JsonPatch or
 * a parsed document. Objects and lists that a path has traversed are added to `parsed`: upstream keeps all others as raw text. Throws
 * JsonPatchError if an operation does not apply, and the errors of `decodeJsonPatch`.
 */
export function applyJsonPatch(document: unknown, patch: unknown, parsed: WeakSet<object> = new WeakSet()): unknown {
  return atOnce(applyJsonPatchSteps(document, patch, parsed));
}

/**
 * Like `applyJsonPatch`, but yields after each operation, and within a copy: inserting at the front of a list of a million items takes a
 * millisecond, copying them a hundred. `hasRepeatedKeys` is true for a patch that `parseWithRepeatedKeys` has read: values that no path
 * traverses keep their repeated keys.
 */
export function* applyJsonPatchSteps(document: unknown, patch: unknown, parsed: WeakSet<object>, hasRepeatedKeys = false): Steps<unknown> {
  const application = new Application(document, parsed, hasRepeatedKeys);
  const { operations } = patch instanceof JsonPatch ? patch : yield* decodeJsonPatchSteps(patch, { isStrict: false });
  for (const operation of operations) {
    yield* application.run(operation);
    yield;
  }
  if (isContainer(application.root)) application.noteParsed(application.root);
  if (yield* isTooDeep(application.root)) throw new JsonPatchError('exceeded max depth');
  return yield* withSortedKeys(application.root, parsed);
}

/** Number of members between two yields. */
const membersPerStep = 4_096;

/** True if the value is nested deeper than the JSON encoding of Go allows. Not recursive. */
function* isTooDeep(value: unknown): Steps<boolean> {
  let level = isContainer(value) ? [value] : [];
  let visited = 0;
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > maxNestingDepth) return true;
    const next: Container[] = [];
    for (const container of level) {
      for (const key of Array.isArray(container) ? container.keys() : keysOf(container)) {
        const member = container[key as keyof Container] as unknown;
        if (isContainer(member)) next.push(member);
        visited += 1;
        if (visited % membersPerStep === 0) yield;
      }
    }
    level = next;
  }
  return false;
}

/**
 * Returns a document with copies of the containers that paths have traversed, their keys sorted: upstream writes these as Go maps and all
 * others as the text that they were. Any depth.
 */
function* withSortedKeys(document: unknown, parsed: WeakSet<object>): Steps<unknown> {
  const holder: unknown[] = [document];
  const pending: Container[] = [holder];
  for (let container = pending.pop(); container !== undefined; container = pending.pop()) {
    let visited = 0;
    for (const key of Array.isArray(container) ? container.keys() : keysOf(container)) {
      const member = container[key as keyof Container] as unknown;
      if (isContainer(member) && parsed.has(member)) {
        const copy = yield* sortedCopy(member);
        parsed.add(copy);
        if (Array.isArray(container)) container[key as number] = copy;
        else setOwn(container, key as string, copy);
        pending.push(copy);
      }
      visited += 1;
      if (visited % membersPerStep === 0) yield;
    }
    yield;
  }
  return holder[0];
}

function* sortedCopy(container: Container): Steps<Container> {
  if (Array.isArray(container)) return [...container];
  return yield* copyMembers(container, yield* sortedKeysSteps(container));
}

/** Returns a copy of an object with its keys in this order; the values are shared. Yields to the event loop, unlike a spread. */
function* copyMembers(object: JsonObject, keys: readonly string[]): Steps<JsonObject> {
  const copy: JsonObject = {};
  let visited = 0;
  for (const key of keys) {
    const value = object[key];
    if (value !== undefined) setOwn(copy, key, value);
    visited += 1;
    if (visited % membersPerStep === 0) yield;
  }
  return noteKeys(copy, keys);
}

type Container = JsonObject | unknown[];
const isContainer = (value: unknown): value is Container => isAnyContainer(value);

class Application {
  root: unknown;
  /** Containers that this application created and may change. All others belong to an input. */
  readonly #owned = new Set<Container>();
  #copied = 0;

  constructor(
    document: unknown,
    readonly parsed: WeakSet<object>,
    readonly hasRepeatedKeys: boolean,
  ) {
    this.root = document;
  }

  /** Notes that upstream holds a container as a map or list from now on. */
  noteParsed(container: Container): void {
    if (this.hasRepeatedKeys && !this.parsed.has(container)) resolveRepeatedKeys(container);
    this.parsed.add(container);
  }

  *run(operation: JsonObject): Steps<void> {
    const kind = getOwn(operation, 'op');
    switch (kind) {
      case 'add':
        return yield* this.#add(operation);
      case 'remove':
        return yield* this.#remove(operation);
      case 'replace':
        return yield* this.#replace(operation);
      case 'move':
        return yield* this.#move(operation);
      case 'test':
        return yield* this.#test(operation);
      case 'copy':
        return yield* this.#copy(operation);
      default:
        throw new JsonPatchError(`Unexpected kind: ${typeof kind === 'string' ? kind : 'unknown'}`);
    }
  }

  *#add(operation: JsonObject): Steps<void> {
    const path = textOf(operation, 'path', 'add operation failed to decode path: missing value');
    const [container, key] = (yield* this.#find(path, true)) ?? missing(`add operation does not apply: doc is missing path: "${path}"`);
    within(`error in add for path: '${path}'`, () => insert(container, key, operand(operation)));
  }

  *#remove(operation: JsonObject): Steps<void> {
    const path = textOf(operation, 'path', 'remove operation failed to decode path: missing value');
    const [container, key] = (yield* this.#find(path, true)) ?? missing(`remove operation does not apply: doc is missing path: "${path}"`);
    within(`error in remove for path: '${path}'`, () => take(container, key));
  }

  *#replace(operation: JsonObject): Steps<void> {
    const path = textOf(operation, 'path', 'replace operation failed to decode path: operation missing path field: missing value');
    const value = operand(operation);
    if (path === '') {
      if (!isContainer(value)) throw new JsonPatchError('replace operation value must be object or array: %!w(<nil>)');
      this.root = value;
      return;
    }
    const [container, key] = (yield* this.#find(path, true)) ?? missing(`replace operation does not apply: doc is missing path: ${path}`);
    if (!Array.isArray(container)) setOwn(container, key, value);
    else container[existingIndex(container, key) ?? missing(`replace operation does not apply: doc is missing key: ${path}`)] = value;
  }

  *#move(operation: JsonObject): Steps<void> {
    const from = textOf(operation, 'from', 'move operation failed to decode from: operation, missing from field: missing value');
    const [source, sourceKey] =
      (yield* this.#find(from, true)) ?? missing(`move operation does not apply: doc is missing from path: ${from}`);
    const value = within(`error in move for path: '${sourceKey}'`, () => take(source, sourceKey));
    const path = textOf(operation, 'path', 'move operation failed to decode path: operation missing path field: missing value');
    const [target, key] =
      (yield* this.#find(path, true)) ?? missing(`move operation does not apply: doc is missing destination path: ${path}`);
    within(`error in move for path: '${path}'`, () => insert(target, key, value));
  }

  *#test(operation: JsonObject): Steps<void> {
    const path = textOf(operation, 'path', 'test operation failed to decode path: operation missing path field: missing value');
    const expected = yield* this.#compared(operand(operation));
    let actual = this.root;
    if (path !== '') {
      const [container, key] = (yield* this.#find(path, false)) ?? missing(`test operation does not apply: is missing path: ${path}`);
      actual = within(`error in test for path: '${path}'`, () => read(container, key));
    }
    if (!(yield* equalLiteralsSteps(yield* this.#compared(actual ?? null), expected)))
      throw new TestFailedError(`testing value ${path} failed: test failed`);
  }

  *#compared(value: unknown): Steps<unknown> {
    return this.hasRepeatedKeys ? withoutRepeatedKeys(yield* deepCopySteps(value)) : value;
  }

  *#copy(operation: JsonObject): Steps<void> {
    const from = textOf(operation, 'from', 'copy operation failed to decode from: operation, missing from field: missing value');
    const [source, sourceKey] =
      (yield* this.#find(from, false)) ?? missing(`copy operation does not apply: doc is missing from path: ${from}`);
    const value = within(`error in copy for from: '${from}'`, () => read(source, sourceKey)) ?? null;
    const path = textOf(operation, 'path', 'copy operation failed to decode path: missing value');
    const [target, key] =
      (yield* this.#find(path, true)) ?? missing(`copy operation does not apply: doc is missing destination path: ${path}`);
    this.#copied += yield* jsonSize(value);
    if (this.#copied > maxAccumulatedCopySize) {
      throw new JsonPatchError(
        `Unable to complete the copy, the accumulated size increase of copy is ${this.#copied}, exceeding the limit ${maxAccumulatedCopySize}`,
      );
    }
    const copy = yield* deepCopySteps(value);
    within('error while adding value during copy', () => insert(target, key, copy));
  }

  /** Returns the parent container of a path, and the last token; undefined if the container does not exist. */
  *#find(path: string, toChange: boolean): Steps<[Container, string] | undefined> {
    const tokens = path.split('/');
    if (tokens.length < 2 || !isContainer(this.root)) return undefined;
    let container = toChange ? (this.root = yield* this.#own(this.root)) : this.root;
    this.noteParsed(container);
    for (let i = 1; i < tokens.length - 1; i++) {
      const token = unescapeToken(tokens[i]!);
      const index = Array.isArray(container) ? existingIndex(container, token) : undefined;
      if (Array.isArray(container) && index === undefined) return undefined;
      const next: unknown = Array.isArray(container) ? container[index!] : getOwn(container, token);
      if (!isContainer(next)) return undefined;
      const mine: Container = toChange ? yield* this.#own(next) : next;
      if (mine !== next) {
        if (Array.isArray(container)) container[index!] = mine;
        else setOwn(container, token, mine);
      }
      container = mine;
      this.noteParsed(container);
    }
    return [container, unescapeToken(tokens[tokens.length - 1]!)];
  }

  *#own(container: Container): Steps<Container> {
    if (this.#owned.has(container)) return container;
    const copy = Array.isArray(container) ? container.slice() : yield* copyMembers(container, keysOf(container));
    this.#owned.add(copy);
    if (this.parsed.has(container)) this.parsed.add(copy);
    return copy;
  }
}

function missing(message: string): never {
  throw new JsonPatchError(`${message}: missing value`);
}

function within<T>(context: string, body: () => T): T {
  try {
    return body();
  } catch (cause) {
    if (cause instanceof JsonPatchError) throw new JsonPatchError(`${context}: ${cause.message}`, { cause });
    throw cause;
  }
}

function textOf(operation: JsonObject, field: 'path' | 'from', message: string): string {
  const value = getOwn(operation, field);
  if (typeof value !== 'string') throw new JsonPatchError(message);
  return value;
}

const operand = (operation: JsonObject): unknown => getOwn(operation, 'value') ?? null;

const unescapeToken = (token: string): string =>
  token.includes('~') ? token.replace(/~[01]/g, (escaped) => (escaped === '~1' ? '/' : '~')) : token;

/** Greatest number of digits of an int64. */
const maxDigits = 19;

/** strconv.Atoi; the error's text for a malformed number or one beyond int64. */
function parseIndex(token: string): number | bigint | string {
  const [, sign, written] = /^([+-]?)(\d+)$/.exec(token) ?? [];
  if (written === undefined) return `strconv.Atoi: parsing ${quote(token)}: invalid syntax`;
  const digits = written.replace(/^0+/, '');
  const index = digits.length > maxDigits ? undefined : BigInt(`${sign === '-' ? '-' : ''}${digits || '0'}`);
  if (index === undefined || BigInt.asIntN(64, index) !== index) return `strconv.Atoi: parsing ${quote(token)}: value out of range`;
  const number = Number(index);
  return Number.isSafeInteger(number) ? number : index;
}

/** Returns the index for a token of an array, negative ones from the end; undefined if it does not exist. */
function existingIndex(array: readonly unknown[], token: string): number | undefined {
  const index = parseIndex(token);
  if (typeof index !== 'number' || index >= array.length || index < -array.length) return undefined;
  return index < 0 ? index + array.length : index + 0;
}

function indexOrThrow(array: readonly unknown[], token: string): number {
  const index = existingIndex(array, token);
  if (index !== undefined) return index;
  const number = parseIndex(token);
  if (typeof number === 'string') throw new JsonPatchError(number);
  throw new JsonPatchError(`Unable to access invalid index: ${number}: invalid index referenced`);
}

function read(container: Container, key: string): unknown {
  return Array.isArray(container) ? container[indexOrThrow(container, key)] : getOwn(container, key);
}

function insert(container: Container, key: string, value: unknown): void {
  if (!Array.isArray(container)) return setOwn(container, key, value);
  if (key === '-') {
    container.push(value);
    return;
  }
  const index = parseIndex(key);
  if (typeof index === 'string') throw new JsonPatchError(`value was not a proper array index: '${key}': ${index}`);
  const size = container.length + 1;
  if (typeof index === 'bigint' || index >= size || index < -size)
    throw new JsonPatchError(`Unable to access invalid index: ${index}: invalid index referenced`);
  container.splice(index < 0 ? index + size : index, 0, value);
}

function take(container: Container, key: string): unknown {
  if (Array.isArray(container)) return container.splice(indexOrThrow(container, key), 1)[0];
  if (!Object.hasOwn(container, key)) throw new JsonPatchError(`Unable to remove nonexistent key: ${key}: missing value`);
  const value = container[key];
  delete container[key];
  return value;
}

/** Returns the length of a value's compact JSON in bytes. Not recursive. */
function* jsonSize(value: unknown): Steps<number> {
  let size = 0;
  let visited = 0;
  const stack = [value];
  while (stack.length > 0) {
    visited += 1;
    if (visited % membersPerStep === 0) yield;
    const next = stack.pop();
    if (Array.isArray(next)) {
      size += 2 + Math.max(0, next.length - 1);
      for (const item of next) stack.push(item);
    } else if (isJsonObject(next)) {
      const keys = presentKeys(next);
      size += 2 + Math.max(0, keys.length - 1);
      for (const key of keys) {
        size += Buffer.byteLength(JSON.stringify(key)) + 1;
        stack.push(next[key]);
        visited += 1;
        if (visited % membersPerStep === 0) yield;
      }
    } else size += isNumber(next) ? literalOf(next).length : Buffer.byteLength(JSON.stringify(next ?? null));
  }
  return size;
}
