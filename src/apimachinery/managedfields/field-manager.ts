import { newBadRequest } from '#apimachinery/api/errors';
import { metaSchema } from '#apimachinery/meta/schema/schema';
import { isGroupVersion, type KubeObject, type ManagedFieldsEntry } from '#apimachinery/meta/types';
import { isJsonObject } from '#apimachinery/patch/own-property';
import { DecodeError } from '#apimachinery/runtime/json/json';
import { decode } from '#apimachinery/runtime/decode';
import { decodeSteps } from '#apimachinery/runtime/decode-steps';
import { deepCopy, deepCopySteps } from '#apimachinery/runtime/copy';
import { deepEqual, deepEqualSteps } from '#apimachinery/runtime/equality';
import type { StructType } from '#apimachinery/runtime/schema';
import { atOnce, type Steps } from '#apimachinery/runtime/steps';
import { now } from '#apimachinery/runtime/time';
import { type Conflict, ConflictError, newConflictError } from './conflict.ts';
import { FieldSet, unionOfAllSteps } from './field-set.ts';
import { problemOf } from './fits.ts';
import { unionSteps } from './known-fields.ts';
import { fieldsOfLastApplied, updateLastApplied } from './last-applied.ts';
import {
  compareText,
  decodeForeignManagersSteps,
  decodeManagers,
  encodeManagers,
  isResetManagedFields,
  isSameManager,
  type Manager,
  ManagedFieldsError,
  withManagedFields,
} from './managers.ts';
import { NewObjectFields } from './new-object-fields.ts';
import { fieldElement } from './path-element.ts';
import { withAlwaysFields } from './always-fields.ts';
import type { Comparison, Skip } from './compare.ts';
import { TypedError } from './typed-value.ts';
import { type ConvertSteps, Updater, type UpdaterOptions, VersionError } from './updater.ts';
import { validate, validateSteps } from './validate.ts';

/** Maximum number of update entries of an object; the oldest ones are merged. */
export const maxUpdateManagers = 10;
const ancientChanges = 'ancient-changes';
const beforeFirstApply = 'before-first-apply';

/**
 * Maintains `metadata.managedFields` and implements server-side apply; apimachinery/pkg/util/managedfields. Objects are decoded and in the
 * manager's version. Inputs are not changed; results share parts of them, and their fieldsV1 must not be changed.
 */
export interface FieldManager {
  /**
   * Returns the created or updated object with managedFields as upstream's Update sets them. `live` is undefined on create. Never throws
   * for client input: unreadable managedFields are replaced by those of `live`, and an untrackable object has none.
   */
  update(live: KubeObject | undefined, next: KubeObject, manager: string): KubeObject;
  /** Like `update`, but yields to the event loop; neither object may change meanwhile. */
  updateSteps(live: KubeObject | undefined, next: KubeObject, manager: string): Steps<KubeObject>;
  /**
   * Server-side apply. `applied` is the parsed configuration, not decoded: nulls and zero values count. For an object to be created, `live`
   * is an empty one (kind, apiVersion, metadata without uid). The result is decoded but not defaulted; undefined if neither the object nor
   * its managedFields change. Throws StatusError: 400, and 409 with causes on conflicts unless `force`; and Error (500 with its message)
   * for a configuration that the type does not allow.
   */
  apply(live: KubeObject, applied: KubeObject, manager: string, force: boolean): KubeObject | undefined;
  /** Like `apply`, but yields to the event loop; neither object may change meanwhile. */
  applySteps(live: KubeObject, applied: KubeObject, manager: string, force: boolean): Steps<KubeObject | undefined>;
  /** Returns the same manager with another converter between versions, whose steps are among those of the manager. */
  convertingBy(convertSteps: ConvertSteps): FieldManager;
}

export interface FieldManagerOptions extends UpdaterOptions {
  /** The type by which a merged object is decoded, if it differs from the type of its fields (custom resources). */
  readonly codecType?: StructType | undefined;
  /** Sets defaults in an object that an apply has changed; not called if only its managers change. */
  readonly defaults?: ((object: KubeObject) => Steps<void>) | undefined;
  readonly kind: string;
  readonly subresource?: string | undefined;
  /** Returns the current time in RFC 3339, whole seconds, UTC. */
  readonly clock?: (() => string) | undefined;
}

/** Fields that are never owned; managedfields/internal/stripmeta.go. */
const unownedMetadata = [
  'name',
  'namespace',
  'creationTimestamp',
  'selfLink',
  'uid',
  'clusterName',
  'generation',
  'managedFields',
  'resourceVersion',
].map((name) => ['f:metadata', fieldElement(name)]);
const stripSet = FieldSet.of(['f:apiVersion'], ['f:kind'], ['f:metadata'], ...unownedMetadata);

export function newFieldManager(options: FieldManagerOptions): FieldManager {
  return new DefaultFieldManager(options);
}

class DefaultFieldManager implements FieldManager {
  readonly #updater: Updater;
  readonly #ofNew: NewObjectFields;
  readonly #subresource: string;
  readonly #clock: () => string;

  constructor(private readonly options: FieldManagerOptions) {
    this.#updater = new Updater(options, skipOf(options.resetFields));
    this.#ofNew = new NewObjectFields(this.#updater.shape);
    this.#subresource = options.subresource ?? '';
    this.#clock = options.clock ?? now;
  }

  convertingBy(convertSteps: ConvertSteps): FieldManager {
    return new DefaultFieldManager({ ...this.options, convertSteps });
  }

  update(live: KubeObject | undefined, next: KubeObject, manager: string): KubeObject {
    return live ? this.#update(live, next, manager) : this.#create(next, manager);
  }

  #update(live: KubeObject | undefined, next: KubeObject, manager: string): KubeObject {
    return atOnce(this.#updating(live, next, manager, false));
  }

  /** `update` without a live object. An object with a known form needs no comparison. */
  #create(next: KubeObject, manager: string): KubeObject {
    const signature = next.metadata.managedFields ? undefined : this.#ofNew.signatureOf(next);
    if (signature === undefined) return this.#update(undefined, next, manager);
    const known = this.#ofNew.get(signature);
    if (known) return withManagedFields(next, encodeManagers([this.#owner(manager, FieldSet.fromCanonical(known))]));
    const created = this.#update(undefined, next, manager);
    const fields = created.metadata.managedFields?.[0]?.fieldsV1;
    if (fields) this.#ofNew.set(signature, fields);
    return created;
  }

  updateSteps(live: KubeObject | undefined, next: KubeObject, manager: string): Steps<KubeObject> {
    return this.#updating(live, next, manager, true);
  }

  *#updating(live: KubeObject | undefined, next: KubeObject, manager: string, isLarge: boolean): Steps<KubeObject> {
    try {
      const before = yield* this.#managersOf(live, next);
      // An object that is not tracked yet is tracked from its first apply on.
      if (before.length === 0 && live?.metadata.uid) return withManagedFields(next, undefined);
      yield* this.#checkUndecoded(live, next);
      const comparison = isLarge ? yield* this.#updater.compareSteps(live, next) : this.#updater.compare(live, next);
      yield;
      const owners = yield* this.#updater.ownersAfter(comparison, live, next, before);
      yield;
      const after = yield* this.#claim(comparison, owners, manager);
      yield;
      return withManagedFields(next, after === before ? this.#entriesOf(live, next, before) : encodeManagers(after));
    } catch (error) {
      if (error instanceof TypedError || error instanceof VersionError || error instanceof DecodeError)
        return withManagedFields(next, undefined);
      throw error;
    }
  }

  /**
   * Throws TypedError for an object that upstream cannot compare, although its compared fields have no fault: one of another kind, or
   * with a mistyped field that the endpoint resets or that was stored before the schema. Only custom resources are not typed when they
   * are decoded.
   */
  *#checkUndecoded(live: KubeObject | undefined, next: KubeObject): Steps<void> {
    const { isUntyped, kind } = this.options;
    if (!isUntyped) return;
    if (next.kind !== kind) throw new TypedError(`no corresponding type for ${formatKind(next.apiVersion, next.kind)}`);
    for (const object of live ? [live, next] : [next]) {
      const problem = yield* problemOf(this.#updater.shape, object);
      if (problem) throw problem;
    }
  }

  /** Returns the owners after the manager has taken the fields that it changed; the same array if it changed none. */
  *#claim(comparison: Comparison | undefined, owners: readonly Manager[], manager: string): Steps<readonly Manager[]> {
    const changed = comparison ? yield* comparison.modified.unionSteps(comparison.added) : FieldSet.empty;
    yield;
    const own = yield* changed.differenceSteps(stripSet);
    if (own.isEmpty) return yield* capUpdateManagers(owners);
    const self = this.#owner(manager, own);
    const mine = owners.find((owner) => isSameManager(owner, self));
    return yield* withOwner(owners, mine ? { ...self, fields: yield* unionSteps(mine.fields, own) } : self);
  }

  /** Returns the current updater. */
  #owner(manager: string, fields: FieldSet): Manager {
    const { groupVersion: apiVersion } = this.options;
    const subresource = this.#subresource;
    return { manager: manager || 'unknown', operation: 'Update', apiVersion, subresource, time: this.#clock(), fields };
  }

  /** Returns the entries. Those of unchanged managers are reused, not encoded again. */
  #entriesOf(live: KubeObject | undefined, next: KubeObject, managers: readonly Manager[]): ManagedFieldsEntry[] | undefined {
    const before = live?.metadata.managedFields;
    const given = next.metadata.managedFields;
    if (
      before &&
      managers.length === before.length &&
      (given === before || !given?.length || this.#subresource || deepEqual(given, before))
    ) {
      return before;
    }
    return encodeManagers(managers);
  }

  /** Returns the initial owners: those of the request if it changes managedFields, else those of the live object. */
  *#managersOf(live: KubeObject | undefined, next: KubeObject): Steps<readonly Manager[]> {
    const before = live?.metadata.managedFields;
    const given = next.metadata.managedFields;
    if (this.#subresource || given === before) return decodeOrNone(before);
    if (isResetManagedFields(given)) return [];
    if (given && given.length > 0 && !deepEqual(given, before)) {
      try {
        return yield* decodeForeignManagersSteps(given);
      } catch (error) {
        if (!(error instanceof ManagedFieldsError)) throw error;
      }
    }
    return decodeOrNone(before);
  }

  apply(live: KubeObject, applied: KubeObject, manager: string, force: boolean): KubeObject | undefined {
    return atOnce(this.#applying(live, applied, manager, force, false));
  }

  applySteps(live: KubeObject, applied: KubeObject, manager: string, force: boolean): Steps<KubeObject | undefined> {
    return this.#applying(live, applied, manager, force, true);
  }

  *#applying(live: KubeObject, applied: KubeObject, manager: string, force: boolean, isLarge: boolean): Steps<KubeObject | undefined> {
    yield* this.#checkVersion(applied);
    const before = this.#decodeLive(live);
    yield;
    let result: KubeObject;
    try {
      result = yield* this.#applyOrUpgrade(live, applied, before, { manager, force, isLarge });
    } catch (error) {
      if (error instanceof ConflictError) throw newConflictError(error.conflicts);
      if (error instanceof TypedError) throw new Error(`failed to merge config: ${error.message}`, { cause: error });
      throw error;
    }
    if (manager === 'kubectl') result = updateLastApplied(result, applied);
    yield;
    const { shape } = this.#updater;
    const [after, was] = [withAlwaysFields(shape, result), withAlwaysFields(shape, live)];
    return (isLarge ? yield* deepEqualSteps(after, was) : deepEqual(after, was)) ? undefined : result;
  }

  *#checkVersion(applied: KubeObject): Steps<void> {
    const { groupVersion, kind } = this.options;
    if (applied.apiVersion !== groupVersion || applied.kind !== kind) {
      const version = textOf(applied.apiVersion);
      const named = isGroupVersion(version) ? formatKind(version, textOf(applied.kind)) : formatKind('', '');
      throw newBadRequest(`invalid object type: ${named}`);
    }
    if (yield* hasManagedFields(applied.metadata?.managedFields)) throw newBadRequest('metadata.managedFields must be nil');
  }

  #decodeLive(live: KubeObject): readonly Manager[] {
    try {
      return decodeManagers(live.metadata.managedFields);
    } catch (cause) {
      if (cause instanceof ManagedFieldsError) throw new Error(`failed to decode managed fields: ${cause.message}`, { cause });
      throw cause;
    }
  }

  /** Applies a configuration. An apply of kubectl may take over the fields of its client-side apply. */
  *#applyOrUpgrade(live: KubeObject, applied: KubeObject, before: readonly Manager[], how: HowApplied): Steps<KubeObject> {
    try {
      return yield* this.#apply(live, applied, before, how);
    } catch (error) {
      if (!(error instanceof ConflictError) || how.manager !== 'kubectl') throw error;
      const allowed = fieldsOfLastApplied(this.#updater.shape, this.options.groupVersion, live);
      if (!allowed) throw error;
      const left: Conflict[] = error.conflicts.map(({ owner, fields }) => ({ owner, fields: fields.difference(allowed) }));
      if (left.some(({ fields }) => !fields.isEmpty)) throw new ConflictError(left.filter(({ fields }) => !fields.isEmpty));
      return yield* this.#apply(live, applied, before, { ...how, force: true });
    }
  }

  *#apply(live: KubeObject, applied: KubeObject, before: readonly Manager[], { manager, force, isLarge }: HowApplied): Steps<KubeObject> {
    const { groupVersion, type, codecType = type } = this.options;
    const untracked = withManagedFields(live, undefined);
    const owners = before.length > 0 ? before : yield* this.#ownersBefore(untracked, isLarge);
    const self = { manager: manager || 'unknown', operation: 'Apply', apiVersion: groupVersion, subresource: this.#subresource } as const;
    try {
      if (isLarge) yield* validateSteps(this.#updater.shape, applied);
      else validate(this.#updater.shape, applied);
    } catch (cause) {
      if (cause instanceof TypedError)
        throw new Error(`failed to create typed patch object (${describe(applied)}): ${cause.message}`, { cause });
      throw cause;
    }
    yield;
    const time = owners.find((owner) => isSameManager(owner, self))?.time;
    const complete = withAlwaysFields(this.#updater.shape, untracked) as KubeObject;
    yield;
    const { object, managers } = yield* this.#updater.apply(
      complete,
      applied,
      owners,
      { ...self, time, fields: FieldSet.empty },
      force,
      isLarge,
    );
    const changed = object !== undefined;
    const after: Manager[] = [];
    for (const owner of managers) {
      if (!isSameManager(owner, self)) {
        after.push(owner);
        continue;
      }
      const fields = yield* owner.fields.differenceSteps(stripSet);
      if (!fields.isEmpty) after.push({ ...owner, fields, time: changed ? this.#clock() : time });
    }
    yield;
    const entries = encodeManagers(after);
    yield;
    if (!object) return withManagedFields(untracked, entries);
    const own = isLarge ? yield* deepCopySteps(object) : deepCopy(object);
    yield;
    return withManagedFields(yield* this.#decode(codecType, own, applied, isLarge), entries);
  }

  /** Returns the owner of an object that was not tracked before its first apply. */
  *#ownersBefore(untracked: KubeObject, isLarge: boolean): Steps<readonly Manager[]> {
    const updater = this.#updater;
    try {
      // A comparison with nothing passes over a scalar in the place of a map. Only custom resources can have one.
      const problem = this.options.isUntyped ? yield* problemOf(updater.shape, untracked) : undefined;
      if (problem) throw problem;
      const all = isLarge ? yield* updater.compareSteps(undefined, untracked) : updater.compare(undefined, untracked);
      yield;
      return yield* this.#claim(all, [], beforeFirstApply);
    } catch (error) {
      if (!(error instanceof TypedError)) throw error;
      const cause = (yield* problemOf(updater.shape, untracked)) ?? error;
      throw new Error(
        `failed to create manager for existing fields: failed to convert new object (${describe(untracked)}) to smd typed: ${cause.message}`,
        { cause },
      );
    }
  }

  #conversionProblem({ message }: DecodeError): string {
    const { groupVersion, kind } = this.options;
    return `unable to convert unstructured object to ${formatKind(groupVersion, kind)}: ${message}`;
  }

  /** Decodes and defaults in place. */
  *#decode(type: StructType, merged: KubeObject, applied: KubeObject, isLarge: boolean): Steps<KubeObject> {
    try {
      const options = { form: 'unstructured' } as const;
      const { object } = isLarge ? yield* decodeSteps<KubeObject>(type, merged, options) : decode<KubeObject>(type, merged, options);
      object.metadata ??= {};
      if (this.options.defaults) yield* this.options.defaults(object);
      return object;
    } catch (error) {
      const cause = decodeErrorOf(error);
      if (!cause) throw error;
      throw new Error(`failed to convert new object (${describe(applied)}) to proper version: ${this.#conversionProblem(cause)}`, {
        cause,
      });
    }
  }
}

/** Returns the innermost error of decoding: defaults may decode parts of the object, and report a place that this error must not have. */
function decodeErrorOf(error: unknown): DecodeError | undefined {
  const inner = error instanceof Error ? decodeErrorOf(error.cause) : undefined;
  return inner ?? (error instanceof DecodeError ? error : undefined);
}

interface HowApplied {
  readonly manager: string;
  readonly force: boolean;
  readonly isLarge: boolean;
}

/** Returns the owners with this one replaced and moved to the end. */
function withOwner(owners: readonly Manager[], self: Manager): Steps<readonly Manager[]> {
  return capUpdateManagers([...owners.filter((owner) => !isSameManager(owner, self)), self]);
}

/** Formats `namespace/name; group/version, Kind=kind`, as upstream's errors name an object. */
function describe({ apiVersion, kind, metadata }: KubeObject): string {
  return `${textOf(metadata?.namespace)}/${textOf(metadata?.name)}; ${formatKind(apiVersion, kind)}`;
}

/** A value that is not a string counts as absent, as upstream. */
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const formatKind = (apiVersion: string, kind: string): string => `${apiVersion.includes('/') ? '' : '/'}${apiVersion}, Kind=${kind}`;

function decodeOrNone(entries: readonly ManagedFieldsEntry[] | undefined): readonly Manager[] {
  try {
    return decodeManagers(entries);
  } catch (error) {
    if (error instanceof ManagedFieldsError) return [];
    throw error;
  }
}

/** Returns the parts that comparisons skip: unowned metadata, and fields that the endpoint resets. */
function skipOf(resetFields: FieldSet | undefined): Skip {
  const root: Record<string, Skip> = { 'f:apiVersion': true, 'f:kind': true };
  for (const path of [...unownedMetadata, ...(resetFields ?? [])]) {
    let node = root;
    for (let i = 0; i < path.length; i++) {
      const element = path[i]!;
      const next = node[element];
      if (next === true) break;
      if (i === path.length - 1) node[element] = true;
      else node = (next ?? (node[element] = {})) as Record<string, Skip>;
    }
  }
  return root;
}

/** Merges the oldest updates by version, until there are at most ten; managedfields/internal/capmanagers.go. */
function* capUpdateManagers(managers: readonly Manager[]): Steps<readonly Manager[]> {
  const updates = managers.filter(({ operation }) => operation === 'Update');
  let excess = updates.length - maxUpdateManagers;
  if (excess <= 0) return managers;
  updates.sort(
    (a, b) => compareText(a.time ?? '', b.time ?? '') || compareText(a.manager, b.manager) || compareText(a.apiVersion, b.apiVersion),
  );
  const kept = new Set(managers);
  const ancients = new Map(updates.filter(isAncient).map((update) => [update.apiVersion, update]));
  const buckets = new Map<string, Bucket>();
  for (const update of updates) {
    if (excess <= 0) break;
    const bucket = buckets.get(update.apiVersion);
    if (!bucket) {
      buckets.set(update.apiVersion, { first: update, merged: [] });
      continue;
    }
    if (bucket.merged.length === 0) {
      const target = ancients.get(update.apiVersion) ?? bucket.first;
      kept.delete(target);
      bucket.merged.push(target);
    }
    kept.delete(update);
    bucket.merged.push(update);
    excess--;
  }
  yield;
  for (const [apiVersion, { merged }] of buckets) {
    if (merged.length === 0) continue;
    const fields = yield* unionOfAllSteps(merged.map((one) => one.fields));
    kept.add({ manager: ancientChanges, operation: 'Update', apiVersion, subresource: '', time: merged.at(-1)?.time, fields });
  }
  return [...kept];
}

/** Updates of one version that are merged. */
interface Bucket {
  readonly first: Manager;
  readonly merged: Manager[];
}

function isAncient({ manager, subresource }: Manager): boolean {
  return manager === ancientChanges && subresource === '';
}

/** Number of entries between two yields. */
const entriesPerStep = 256;

/** True for a list of entries. Upstream's unstructured objects have no managedFields if one item cannot be read. */
function* hasManagedFields(value: unknown): Steps<boolean> {
  if (!Array.isArray(value)) return false;
  for (const [i, item] of value.entries()) {
    if (!isEntry(item)) return false;
    if (i % entriesPerStep === 0) yield;
  }
  return true;
}

function isEntry(item: unknown): boolean {
  if (!isJsonObject(item)) return false;
  try {
    decode(metaSchema.struct('meta_v1.ManagedFieldsEntry'), deepCopy(item), { form: 'unstructured' });
    return true;
  } catch (error) {
    if (error instanceof DecodeError) return false;
    throw error;
  }
}
