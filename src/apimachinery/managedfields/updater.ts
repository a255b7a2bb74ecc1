import type { FieldsV1, KubeObject } from '#apimachinery/meta/types';
import { decode } from '#apimachinery/runtime/decode';
import { deepCopy } from '#apimachinery/runtime/copy';
import { deepEqual, deepEqualSteps } from '#apimachinery/runtime/equality';
import type { StructType } from '#apimachinery/runtime/schema';
import type { Steps } from '#apimachinery/runtime/steps';
import { type Conflict, ConflictError } from './conflict.ts';
import { FieldSet, unionOfAllSteps } from './field-set.ts';
import { ensureNamedFieldsAreMembers, reconcileFieldSet, removeItems } from './items.ts';
import { differenceSteps, isKnown } from './known-fields.ts';
import { isSameManager, type Manager } from './managers.ts';
import { mergeSteps } from './merge.ts';
import { type Shape, shapeOf } from './shape.ts';
import type { Readings } from './atomic-values.ts';
import { type Comparison, compare, comparingSteps, type Skip } from './compare.ts';
import { toFieldSet, toFieldSetSteps } from './owned-fields.ts';
import { type Reading, TypedError } from './typed-value.ts';
import { validate, validateSteps } from './validate.ts';

/** Converts an object to another version of its API, which is served. Throws VersionError if it cannot. */
export type ConvertSteps = (object: KubeObject, toGroupVersion: string) => Steps<KubeObject>;

export interface UpdaterOptions {
  readonly type: StructType;
  /** `apps/v1` */
  readonly groupVersion: string;
  /**
   * Fields that writes through this endpoint do not change, each with its descendants: in all versions, of custom resources only in this
   * one.
   */
  readonly resetFields?: FieldSet | undefined;
  /**
   * Converts the object to another version of its API; undefined if the version is no longer served. Without the function, no other version
   * is served.
   */
  readonly convert?: ((object: KubeObject, toGroupVersion: string) => KubeObject | undefined) | undefined;
  /** Converts instead of `convert`. */
  readonly convertSteps?: ConvertSteps | undefined;
  /**
   * Returns the type in another version; undefined if the version is no longer served. Required with `convert`. Throws VersionError
   * where upstream's converter fails.
   */
  readonly typeFor?: ((groupVersion: string) => StructType | undefined) | undefined;
  /**
   * True for custom resources: conversion neither decodes an object nor drops its nulls, and an object may have fields that another
   * version does not declare, which fails as in upstream's converter.
   */
  readonly isUntyped?: boolean | undefined;
}

/** Result of an update or an apply, with the new owners. */
export interface Applied {
  /** The merged object, not decoded; undefined if the configuration changes nothing. */
  readonly object: KubeObject | undefined;
  readonly managers: readonly Manager[];
}

const typed: Readings = { left: 'typed', right: 'typed' };
const nothing: Comparison = { added: FieldSet.empty, modified: FieldSet.empty, removed: FieldSet.empty };

/** Error for an object that cannot be converted to a version in its managedFields. `message` is upstream's. */
export class VersionError extends Error {
  override readonly name = 'VersionError';
}

/**
 * Updates owners by set operations; structured-merge-diff/merge/update.go. Owners may have written different versions: an owner's set is
 * compared in its own version, and an owner of an unserved version loses all fields.
 */
export class Updater {
  readonly shape: Shape;
  /** Interned fields that are already reconciled with the type. */
  readonly #reconciled = new WeakSet<FieldsV1>();

  constructor(
    private readonly options: UpdaterOptions,
    private readonly skip: Skip,
  ) {
    this.shape = shapeOf(options.type);
  }

  /** Returns the difference between two objects; undefined if there is none. */
  compare(live: KubeObject | undefined, next: KubeObject): Comparison | undefined {
    return compare(this.shape, live ?? {}, next, typed, this.skip);
  }

  /** Like `compare`, but yields to the event loop. */
  compareSteps(live: KubeObject | undefined, next: KubeObject): Steps<Comparison | undefined> {
    return comparingSteps(this.shape, live ?? {}, next, typed, () => this.compare(live, next));
  }

  /**
   * Returns the owners after a change: changed fields belong to their changer, removed ones to no manager. Returns the same array if
   * nothing changes. Yields after each owner.
   */
  *ownersAfter(
    comparison: Comparison | undefined,
    live: KubeObject | undefined,
    next: KubeObject,
    owners: readonly Manager[],
  ): Steps<readonly Manager[]> {
    const { groupVersion } = this.options;
    if (!comparison && owners.every(({ apiVersion, fields }) => apiVersion === groupVersion && !fields.isEmpty)) return owners;
    const versions = new Map<string, Comparison | undefined>([[groupVersion, comparison ?? nothing]]);
    const kept: Manager[] = [];
    let changed = false;
    for (const owner of owners) {
      const own = yield* this.#comparisonIn(owner.apiVersion, versions, live, next, 'typed');
      if (!own) {
        changed = true;
        continue;
      }
      const reconciled = own === nothing ? owner.fields : this.#reconcile(owner);
      yield;
      const fields = yield* withoutChanges(reconciled, own);
      yield;
      if (fields !== owner.fields || fields.isEmpty) changed = true;
      if (!fields.isEmpty) kept.push(fields === owner.fields ? owner : { ...owner, fields });
    }
    return changed ? kept : owners;
  }

  /**
   * Merges a configuration into the live object and removes fields that its manager owned before and that have no owner now. `live` must
   * have all fields that Go always encodes (withAlwaysFields). `self` is the applying manager; its fields are set here. Throws
   * ConflictError unless `force`, and TypedError. Yields after each field set, and if `isLarge` also within; inputs must not change
   * meanwhile.
   */
  *apply(
    live: KubeObject,
    applied: KubeObject,
    before: readonly Manager[],
    self: Manager,
    force: boolean,
    isLarge: boolean,
  ): Steps<Applied> {
    const { resetFields } = this.options;
    const managers: Manager[] = [];
    for (const owner of before) {
      if (!this.#typeIn(owner.apiVersion)) continue;
      yield* this.#ensureFits(live, owner.apiVersion, isLarge);
      const fields = this.#reconcile(owner);
      managers.push(fields === owner.fields ? owner : { ...owner, fields });
      yield;
    }
    const last = managers.find((owner) => isSameManager(owner, self));
    let fields = yield* fieldsOf(this.shape, applied, isLarge);
    yield;
    if (resetFields) fields = fields.recursiveDifference(resetFields);
    const others = managers.filter((owner) => owner !== last);
    const claims = [...others, { ...self, fields }];
    yield;

    let object = (yield* mergeSteps(this.shape, live, applied, isLarge)) as KubeObject;
    yield;
    // Fields that are still applied stay; in another version the sets cannot be compared.
    const drops = last && (last.apiVersion !== self.apiVersion || !(yield* last.fields.differenceSteps(fields)).isEmpty);
    if (drops) object = yield* this.#prune(object, claims, last, isLarge);
    const owners = yield* this.#resolve(live, object, others, force, isLarge);
    yield;
    if (!fields.isEmpty) owners.push({ ...self, fields });
    const isSame = isLarge ? yield* deepEqualSteps(live, object) : deepEqual(live, object);
    return { object: isSame ? undefined : object, managers: owners };
  }

  /** Returns the other owners after an apply. */
  *#resolve(live: KubeObject, object: KubeObject, others: readonly Manager[], force: boolean, isLarge: boolean): Steps<Manager[]> {
    const { groupVersion } = this.options;
    const readings: Readings = { left: 'typed', right: 'raw' };
    const comparing = (): Comparison | undefined => compare(this.shape, live, object, readings);
    const compared = isLarge ? yield* comparingSteps(this.shape, live, object, readings, comparing) : comparing();
    yield;
    const versions = new Map<string, Comparison | undefined>([[groupVersion, this.#filter(compared) ?? nothing]]);
    const conflicts: Conflict[] = [];
    const kept: Manager[] = [];
    for (const owner of others) {
      yield;
      const own = yield* this.#comparisonIn(owner.apiVersion, versions, live, object, 'raw');
      if (!own) continue;
      const changed = yield* own.modified.unionSteps(own.added);
      yield;
      const lost = yield* owner.fields.intersectionSteps(changed);
      if (!lost.isEmpty) conflicts.push({ owner, fields: lost });
      yield;
      const fields = yield* withoutChanges(owner.fields, own);
      if (!fields.isEmpty) kept.push({ ...owner, fields });
    }
    if (conflicts.length > 0 && !force) throw new ConflictError(conflicts);
    return kept;
  }

  #filter(comparison: Comparison | undefined): Comparison | undefined {
    const { resetFields } = this.options;
    if (!comparison || !resetFields) return comparison;
    return {
      added: comparison.added.recursiveDifference(resetFields),
      modified: comparison.modified.recursiveDifference(resetFields),
      removed: comparison.removed.recursiveDifference(resetFields),
    };
  }

  /** Returns the comparison in another version; undefined if that version is not served. */
  *#comparisonIn(
    version: string,
    known: Map<string, Comparison | undefined>,
    live: KubeObject | undefined,
    next: KubeObject,
    reading: Reading,
  ): Steps<Comparison | undefined> {
    if (known.has(version)) return known.get(version);
    const result = yield* this.#newComparisonIn(version, live, next, reading);
    known.set(version, result);
    return result;
  }

  *#newComparisonIn(version: string, live: KubeObject | undefined, next: KubeObject, reading: Reading): Steps<Comparison | undefined> {
    const type = this.#typeIn(version);
    // Skips the conversion for unknown versions, of which there may be ten thousand.
    if (!type) return undefined;
    const a = live ? yield* this.#convert(live, version, 'typed') : {};
    const b = yield* this.#convert(next, version, reading);
    if (!a || !b) return undefined;
    if (this.options.isUntyped) for (const object of [a, b]) validate(shapeOf(type), object);
    // Upstream knows the reset fields of a custom resource in the version of the request only.
    if (this.options.isUntyped) return compare(shapeOf(type), a, b, { left: 'typed', right: reading }) ?? nothing;
    return this.#filter(compare(shapeOf(type), a, b, typed, this.skip)) ?? nothing;
  }

  /** Returns the type in a version; undefined if the version is not served. */
  #typeIn(version: string): StructType | undefined {
    const { type, groupVersion, convert, typeFor } = this.options;
    if (version === groupVersion) return type;
    if (!convert || !typeFor) return undefined;
    return typeFor(version);
  }

  /** Converts the object to a version; undefined if it is not served. The result of an apply is decoded first if versions have types. */
  *#convert(object: KubeObject, version: string, reading: Reading): Steps<KubeObject | undefined> {
    if (object.apiVersion === version) return object;
    const from = this.#typeIn(object.apiVersion);
    if (!from) return undefined;
    const isDecoded = reading === 'typed' || this.options.isUntyped;
    const { convert, convertSteps } = this.options;
    const decoded = isDecoded ? object : decode<KubeObject>(from, deepCopy(object)).object;
    return convertSteps ? yield* convertSteps(decoded, version) : convert?.(decoded, version);
  }

  /**
   * Throws VersionError if the live object cannot be converted to another version. Upstream: merge/update.go
   * (reconcileManagedFieldsWithSchemaChanges).
   */
  *#ensureFits(live: KubeObject, version: string, isLarge: boolean): Steps<void> {
    const { groupVersion, isUntyped } = this.options;
    if (version === groupVersion || !isUntyped) return;
    const type = this.#typeIn(version);
    const converted = yield* this.#convert(live, version, 'raw');
    if (!type || !converted) return;
    try {
      if (isLarge) yield* validateSteps(shapeOf(type), converted);
      else validate(shapeOf(type), converted);
    } catch (cause) {
      if (cause instanceof TypedError) throw new VersionError(cause.message, { cause });
      throw cause;
    }
  }

  #reconcile({ apiVersion, fields }: Manager): FieldSet {
    const type = this.#typeIn(apiVersion);
    const tree = fields.toFieldsV1();
    if (!type || (type === this.options.type && this.#reconciled.has(tree))) return fields;
    const reconciled = reconcileFieldSet(shapeOf(type), fields);
    if (type === this.options.type && reconciled === fields && isKnown(tree)) this.#reconciled.add(tree);
    return reconciled;
  }

  /** Removes the fields that the manager applied last time, does not apply now, and no other manager owns. */
  *#prune(merged: KubeObject, claims: readonly Manager[], last: Manager, isLarge: boolean): Steps<KubeObject> {
    const version = last.apiVersion;
    const type = this.#typeIn(version);
    const converted = yield* this.#convert(merged, version, 'raw');
    if (!type || !converted) return merged;
    const shape = shapeOf(type);
    const lastFields = yield* ensureNamedFieldsAreMembers(shape, last.fields);
    yield;
    let pruned = (yield* removeItems(shape, converted, lastFields)) as KubeObject | null;
    yield;
    pruned = yield* this.#addBackOwned(converted, asObject(pruned, converted), version, claims, isLarge);
    pruned = yield* this.#addBackDangling(converted, pruned, version, lastFields, isLarge);
    yield;
    return (yield* this.#convert(asObject(pruned, converted), this.options.groupVersion, 'raw')) ?? merged;
  }

  *#addBackOwned(
    merged: KubeObject,
    pruned: KubeObject,
    prunedVersion: string,
    claims: readonly Manager[],
    isLarge: boolean,
  ): Steps<KubeObject> {
    const owned = Map.groupBy(claims, ({ apiVersion }) => apiVersion);
    const versions = new Set([prunedVersion, ...owned.keys()]);
    let all = merged;
    let rest = pruned;
    for (const version of versions) {
      const fields = yield* unionOfAllSteps((owned.get(version) ?? []).map((claim) => claim.fields));
      if (version === prunedVersion && fields.isEmpty) continue;
      const type = this.#typeIn(version);
      const a = yield* this.#convert(all, version, 'raw');
      const b = yield* this.#convert(rest, version, 'raw');
      if (!type || !a || !b) continue;
      const shape = shapeOf(type);
      yield;
      const before = yield* ensureNamedFieldsAreMembers(shape, yield* fieldsOf(shape, a, isLarge));
      yield;
      const after = yield* ensureNamedFieldsAreMembers(shape, yield* fieldsOf(shape, b, isLarge));
      yield;
      const stay = yield* after.unionSteps(yield* ensureNamedFieldsAreMembers(shape, fields));
      const gone = yield* before.differenceSteps(stay);
      yield;
      all = a;
      rest = asObject((yield* removeItems(shape, a, gone)) as KubeObject | null, a);
    }
    return rest;
  }

  /** Restores unowned fields: only fields that the manager itself had applied may be removed. */
  *#addBackDangling(merged: KubeObject, pruned: KubeObject, version: string, lastFields: FieldSet, isLarge: boolean): Steps<KubeObject> {
    const type = this.#typeIn(version);
    const converted = yield* this.#convert(pruned, version, 'raw');
    if (!type || !converted) return merged;
    const shape = shapeOf(type);
    yield;
    const before = yield* ensureNamedFieldsAreMembers(shape, yield* fieldsOf(shape, merged, isLarge));
    yield;
    const after = yield* ensureNamedFieldsAreMembers(shape, yield* fieldsOf(shape, converted, isLarge));
    yield;
    const dangling = yield* (yield* before.differenceSteps(after)).intersectionSteps(lastFields);
    return asObject((yield* removeItems(shape, merged, dangling)) as KubeObject | null, merged);
  }
}

/** Returns the fields of an object for a manager that owns all of them. */
function* fieldsOf(shape: Shape, object: KubeObject, isLarge: boolean): Steps<FieldSet> {
  return isLarge ? yield* toFieldSetSteps(shape, object) : toFieldSet(shape, object);
}

/** Returns an object even if its whole content was removed. */
function asObject(value: KubeObject | null, { apiVersion, kind }: KubeObject): KubeObject {
  return value ?? ({ apiVersion, kind } as KubeObject);
}

function* withoutChanges(fields: FieldSet, { added, modified, removed }: Comparison): Steps<FieldSet> {
  const unmodified = yield* differenceSteps(fields, modified);
  const old = yield* differenceSteps(unmodified, added);
  return yield* differenceSteps(old, removed);
}
