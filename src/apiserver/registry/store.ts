import type { Buffer } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import {
  endAtDeadline,
  isAlreadyExists,
  newAlreadyExists,
  newBadRequest,
  newConflict,
  newGenerateNameConflict,
  newInvalid,
  newNotFound,
  newTimeoutError,
} from '#apimachinery/api/errors';
import { nextGeneration } from '#apimachinery/meta/generation';
import {
  type DeleteOptions,
  type GroupKind,
  type GroupResource,
  groupVersionString,
  type KubeObject,
  parseGroupVersion,
} from '#apimachinery/meta/types';
import { copyObject, copyObjectSteps } from '#apimachinery/managedfields/copy-object';
import { deepEqual } from '#apimachinery/runtime/equality';
import { quote } from '#apimachinery/runtime/quote';
import type { RequestSpan, TellEvent } from '#apiserver/request/request-span';
import type { StructType, TypeSource } from '#apimachinery/runtime/schema';
import { semanticDeepEqual } from '#apimachinery/runtime/semantic-equality';
import { inSteps, needsSteps, type Steps, turnOfOthers, untilTime } from '#apimachinery/runtime/steps';
import { type FieldError, fieldPath, invalid, TooManyErrors } from '#apimachinery/validation/field';
import { validatingSteps } from '#apimachinery/validation/pausing';
import { isValidPathSegmentName, nameIsDNSSubdomain, validatePathSegmentName } from '#apimachinery/validation/names';
import { validateKubeFinalizerNames, validateObjectMeta, validateObjectMetaUpdate } from '#apimachinery/validation/object-meta';
import type { CachedObject } from '#apiserver/storage/cacher/cached-object';
import type { Cacher } from '#apiserver/storage/cacher/cacher';
import { ConflictError, KeyExistsError } from '#apiserver/storage/errors';
import type { Encode, Storage } from '#apiserver/storage/storage';
import { type CurrentRecord, CurrentRecords } from './current-record.ts';
import { beforeDelete, collectionFinalizers, markAsDeleting } from './deletion.ts';
import { type EncodedObject, ObjectEncoding } from './object-encoding.ts';
import type { ResourceDefinition, Strategy, StrategyContext } from './resource-definition.ts';
import { encodingTold, toldOf } from './told-writes.ts';
import { ensureNamespaceMatches } from './namespace-scope.ts';
import { checkIdentity, type Identity } from './identity.ts';
import { wipeSystemFields } from './system-fields.ts';

/** A compare-and-swap that lost against so many others in a row gives up. */
const maxAttempts = 64;
const generatedNameAttempts = 8;
/** Upstream: apiserver/pkg/storage/names/generate.go: vowels and easily confused letters are left out. */
const nameAlphabet = 'bcdfghjklmnpqrstvwxz2456789';
const maxGeneratedBase = 58;
/** A uint64. */
const maxVersion = 0xffff_ffff_ffff_ffffn;
const optimisticLock = 'the object has been modified; please apply your changes to the latest version and try again';

/** What came out of a write. */
export interface Stored {
  /** The object as it is stored, or with dry run as it would be. */
  readonly object: KubeObject;
  /** Its JSON in the storage version with an ending newline. */
  readonly bytes: Buffer;
  readonly created: boolean;
}

export interface Deleted {
  /** What is left, or what was there last. */
  readonly stored: Stored;
  /** false where the object only was marked: finalizers or a grace period hold it. */
  readonly gone: boolean;
}

/** What is wrong with an object: with its metadata, as with that of any kind, and with what its kind has. */
interface Findings {
  readonly ofMeta: readonly FieldError[];
  readonly ofKind: readonly FieldError[];
}

/** What a write needs to know of its request; admission at upstream's two points among it. */
export interface WriteRequest extends StrategyContext {
  /** What was sent: a large object is handled in steps. */
  readonly bodyBytes: number;
  /** What the request was authorized for: its verb, and the version in which it came. undefined for the server's own writes. */
  readonly verb?: string;
  readonly apiVersion?: string;
  readonly warn: (text: string) => void;
  /** When nobody waits for it any more, in the time of `performance.now()`; 0 or undefined: never. */
  readonly deadline?: number;
  /** Of a request that is sampled for a collector of traces. */
  readonly span?: RequestSpan | undefined;
  /** `inParts`: the old object is large, if not the body. */
  admit(operation: 'CREATE' | 'UPDATE', object: KubeObject, old: KubeObject | undefined, inParts?: boolean): void | Promise<void>;
  validate(operation: 'CREATE' | 'UPDATE' | 'DELETE', object: KubeObject | undefined, old: KubeObject | undefined): void | Promise<void>;
}

export interface UpdateOptions {
  /** Of a subresource; without it, the resource's own. */
  readonly strategy?: Strategy | undefined;
  /** Create what is missing, though the strategy does not (apply). */
  readonly forceAllowCreate?: boolean | undefined;
  /** The uid that the stored object must have. */
  readonly uid?: string | undefined;
}

/** Called once a write is decided: `true` if it is stored, `false` if it failed or was a dry run. */
export type Finish = (stored: boolean) => void | Promise<void>;

/**
 * What else happens with a write of a resource: addresses and ports that are taken and given back. The `begin…` hooks may
 * change the object and refuse the write by throwing. Upstream: BeginCreate, BeginUpdate and AfterDelete of the generic store.
 */
export interface StoreHooks {
  /** Before the strategy prepares and validates a new object. */
  beginCreate?(object: KubeObject, request: WriteRequest): Finish | undefined | Promise<Finish | undefined>;
  /** Before the strategy prepares and validates a changed object; not for writes of subresources, which leave the spec alone. */
  beginUpdate?(object: KubeObject, old: KubeObject, request: WriteRequest): Finish | undefined | Promise<Finish | undefined>;
  /**
   * What is wrong with an object, where others must be asked: called once it is prepared, with what its strategy found, it
   * gives all of it. Also for writes of subresources that are the object's own.
   */
  review?(
    object: KubeObject,
    old: KubeObject | undefined,
    request: WriteRequest,
    found: readonly FieldError[],
  ): Promise<readonly FieldError[]>;
  /** After an object is gone. */
  afterDelete?(object: KubeObject, request: WriteRequest): void | Promise<void>;
  /** Whether what is stored is another form of the object than a write would store now (custom resources): then even a write that changes nothing is done. */
  isStale?(key: string, object: KubeObject): Promise<boolean>;
  /** The object of a dry run, encoded, as it would be read back after it was stored (custom resources of several versions). */
  asStored?(bytes: Buffer): Promise<Buffer>;
}

/**
 * Makes the new object of the present one (which it must not change); undefined stands for an object that is missing. `inParts`: one of them is so large
 * that others should run meanwhile.
 */
export type Produce = (existing: KubeObject | undefined, inParts: boolean) => KubeObject | Promise<KubeObject>;

/**
 * Reads and writes the objects of one resource: metadata rules, strategy, admission, validation, compare-and-swap,
 * finalizers. Objects are in the storage version. Upstream: apiserver/pkg/registry/generic/registry/store.go.
 */
export class Store {
  readonly type: StructType;
  readonly encoding: ObjectEncoding;
  readonly groupResource: GroupResource;
  /** Of the stored version: errors name `Event`, not `Event.events.k8s.io`. */
  readonly groupKind: GroupKind;
  /** Of each object that is stored. */
  readonly #kind: Pick<Identity, 'apiVersion' | 'kind'>;
  readonly #strategy: Strategy;
  readonly #cacher: Cacher | undefined;
  #records: CurrentRecords | undefined;

  /** Without a cacher: of a virtual resource, which has a type and nothing stored. */
  constructor(
    readonly definition: ResourceDefinition,
    readonly storage: Storage,
    cacher: Cacher | undefined,
    schemas: TypeSource,
    readonly hooks: StoreHooks = {},
  ) {
    this.#cacher = cacher;
    this.type = schemas.struct(definition.storageVersion?.schema ?? definition.schema);
    this.encoding = new ObjectEncoding(this.type, definition.custom !== undefined);
    this.groupResource = { group: definition.group, resource: definition.resource };
    const version = definition.storageVersion?.version ?? definition;
    this.#kind = { apiVersion: groupVersionString({ group: version.group, version: version.version }), kind: definition.kind };
    this.groupKind = { group: version.group, kind: definition.kind };
    this.#strategy = definition.strategy;
  }

  /** Throws for a virtual resource: nothing of it can be read. */
  get cacher(): Cacher {
    if (!this.#cacher) throw new Error(`${this.definition.resource} are not stored`);
    return this.#cacher;
  }

  get #current(): CurrentRecords {
    return (this.#records ??= new CurrentRecords(this.cacher));
  }

  /** `/pods/default/web-1`; without a name the prefix of all in the namespace, without both of all. */
  key(namespace: string, name: string): string {
    const { namespaced, storagePath } = this.definition;
    if (name === '.' || name === '..' || name.includes('%') || name.includes('/')) throw newInvalidName(name);
    if (namespaced && (namespace === '.' || namespace === '..')) this.#refuseKey(`${namespace}/${name}`);
    return namespaced ? `/${storagePath}/${namespace}/${name}` : `/${storagePath}/${name}`;
  }

  /** The key of an object that is read or written by name. Throws BadRequest without the namespace of a namespaced resource. Upstream: generic/registry/store.go (NamespaceKeyFunc). */
  #keyOf(namespace: string, name: string): string {
    if (this.definition.namespaced && namespace === '') throw newBadRequest('Namespace parameter required.');
    return this.key(namespace, name);
  }

  #refuseKey(segment: string): never {
    throw new Error(`invalid key: ${quote(`/${this.definition.storagePath}/${segment}`)}`);
  }

  prefix(namespace: string): string {
    if (namespace === '.' || namespace === '..') this.#refuseKey(namespace);
    return this.definition.namespaced && namespace ? `/${this.definition.storagePath}/${namespace}/` : `/${this.definition.storagePath}/`;
  }

  /** What `key` made the key of. */
  placeOf(key: string): { readonly namespace: string; readonly name: string } {
    const [name = '', namespace = ''] = key.split('/').reverse();
    return { namespace: this.definition.namespaced ? namespace : '', name };
  }

  /** The object, synchronously where the cache may answer. Throws NotFound. */
  get(namespace: string, name: string, resourceVersion: string): CachedObject | Promise<CachedObject> {
    const found = this.cacher.get(this.#keyOf(namespace, name), resourceVersion);
    if (found instanceof Promise) return found.then((object) => this.#found(object, name));
    return this.#found(found, name);
  }

  #found(object: CachedObject | undefined, name: string): CachedObject {
    if (!object) throw newNotFound(this.groupResource, name);
    return object;
  }

  create(request: WriteRequest, object: KubeObject): Promise<Stored> {
    wipeSystemFields(object.metadata);
    return this.#create(request, object);
  }

  async #create(request: WriteRequest, object: KubeObject): Promise<Stored> {
    const admitted = request.admit('CREATE', object, undefined);
    if (admitted) await admitted;
    // Admission may have put another object's members into this one.
    const { metadata } = object;
    const generate = !metadata.name && metadata.generateName;
    const inParts = needsSteps(request.bodyBytes);
    if (inParts) await turnOfOthers();
    const uid = randomUUID();
    metadata.uid = uid;
    metadata.creationTimestamp = request.now;
    for (let attempt = 1; ; attempt += 1) {
      if (generate && !metadata.name) metadata.name = generateName(metadata.generateName ?? '');
      const finish = this.hooks.beginCreate && (await this.hooks.beginCreate(object, request));
      let stored = false;
      try {
        const prepared = attempt === 1 ? this.#validating(object, () => this.#prepareCreate(request, object, inParts)) : undefined;
        if (prepared) await prepared;
        if (inParts) await turnOfOthers();
        // The name may come of mutating admission; from here on nothing changes it.
        const name = metadata.name ?? '';
        const validated = request.validate('CREATE', object, undefined);
        if (validated) await validated;
        const key = this.key(request.namespace, name);
        const identity = this.#identity(request, name, uid);
        checkIdentity(object, identity);
        if (request.dryRun) {
          if (await this.cacher.get(key, '')) throw newAlreadyExists(this.groupResource, name);
          const bytes = inParts ? await this.encoding.encodeWholeInSteps(object) : this.encoding.encode(object);
          return { object, bytes: await this.#asStored(bytes), created: true };
        }
        if (isVersionSet(metadata.resourceVersion)) throw new Error('resourceVersion should not be set on objects to be created');
        delete metadata.resourceVersion;
        const encodeAt = inParts
          ? await this.#storable(request, object, await this.encoding.encodeInSteps(object))
          : this.#encodeAt(object, identity);
        const store = (made: Encode) => this.storage.create(key, made, this.#writeOptions());
        const { span } = request;
        const create = span
          ? (made: Encode) =>
              span.around('Create etcd3', this.#spanAttributes(key), (tell) =>
                toldOf(tell, 'Txn call succeeded', store(encodingTold(made, tell))),
              )
          : store;
        const record = await create(encodeAt);
        stored = true;
        this.#current.written(record);
        return { object, bytes: record.value, created: true };
      } catch (error) {
        if (!(error instanceof KeyExistsError)) throw error;
        if (!generate) throw newAlreadyExists(this.groupResource, metadata.name ?? '');
        if (attempt === generatedNameAttempts) throw newGenerateNameConflict(this.groupResource, metadata.name ?? '', 1);
        delete metadata.name;
      } finally {
        if (finish) await finish(stored);
      }
    }
  }

  /** Only kinds with a review or steps have something to wait for. */
  #prepareCreate(request: WriteRequest, object: KubeObject, inParts: boolean): Promise<void> | undefined {
    const strategy = this.#strategy;
    const { metadata } = object;
    ensureNamespaceMatches(this.definition, request.namespace, object);
    if (strategy.generation === 'spec') metadata.generation = 1;
    strategy.prepareForCreate?.(object, request);
    const validate = (): Findings => ({
      ofMeta: [
        ...validateObjectMeta(
          metadata,
          { namespaced: this.definition.namespaced, nameFn: strategy.nameRules?.(object) ?? strategy.validateName ?? nameIsDNSSubdomain },
          fieldPath('metadata'),
        ),
        ...this.#finalizerErrors(object, strategy),
      ],
      ofKind: strategy.validate?.(object, request) ?? [],
    });
    return this.#validate(request, object, undefined, strategy, inParts, validate, ({ ofMeta, ofKind }) => {
      if (strategy.genericMeta === 'all') this.#throwInvalid(ofKind, object);
      this.#finishCreate(request, object, [...ofMeta, ...ofKind]);
    });
  }

  /** Of what is small `finish` is called now, unless the kind has steps of its own or a review; of what is large all goes in steps. */
  #validate(
    request: WriteRequest,
    object: KubeObject,
    existing: KubeObject | undefined,
    strategy: Strategy,
    inParts: boolean,
    validate: () => Findings,
    finish: (found: Findings) => void,
  ): Promise<void> | undefined {
    const { review } = this.hooks;
    const steps = strategy.validateSteps?.(object, existing, request);
    if (!steps && !inParts && !review) {
      finish(validate());
      return undefined;
    }
    const inTime = <T>(work: Steps<T>): Promise<T> => inSteps(untilTime(work, request.deadline ?? 0, endAtDeadline));
    const inTurn = async (): Promise<void> => {
      const { ofMeta, ofKind } = inParts ? await inTime(validatingSteps(validate)) : validate();
      const all = steps ? [...ofKind, ...(await inTime(steps))] : ofKind;
      if (inParts) await turnOfOthers();
      finish({ ofMeta, ofKind: review ? await review.call(this.hooks, object, existing, request, all) : all });
    };
    return inTurn();
  }

  #finishCreate(request: WriteRequest, object: KubeObject, errors: readonly FieldError[]): void {
    const strategy = this.#strategy;
    const { metadata } = object;
    this.#throwInvalid(errors, object);
    const segment = isValidPathSegmentName(metadata.name ?? '').map((message) =>
      invalid(fieldPath('metadata').child('name'), metadata.name, message),
    );
    this.#throwInvalid(segment, object);
    for (const text of strategy.warningsOnCreate?.(object, request) ?? []) request.warn(text);
    strategy.canonicalize?.(object, request);
  }

  #finalizerErrors({ metadata: { finalizers } }: KubeObject, strategy: Strategy): FieldError[] {
    const isFree = strategy.anyFinalizers || strategy.genericMeta === 'all';
    return finalizers && !isFree ? validateKubeFinalizerNames(finalizers, fieldPath('metadata').child('finalizers')) : [];
  }

  /** Makes a new object of the stored one and swaps them, as often as it takes. Upstream: Store.Update over GuaranteedUpdate. */
  update(request: WriteRequest, name: string, produce: Produce, options: UpdateOptions = {}): Promise<Stored> {
    const { span } = request;
    return span ? this.#updateWithin(span, request, name, produce, options) : this.#update(request, name, produce, options);
  }

  async #updateWithin(
    span: RequestSpan,
    ...args: [request: WriteRequest, name: string, produce: Produce, options: UpdateOptions]
  ): Promise<Stored> {
    const [{ namespace }, name] = args;
    return span.around('GuaranteedUpdate etcd3', this.#spanAttributes(this.key(namespace, name)), (tell) => this.#update(...args, tell));
  }

  #spanAttributes(key: string): (readonly [string, string])[] {
    const { group, resource } = this.groupResource;
    return [
      ['key', key],
      ['group', group],
      ['resource', resource],
    ];
  }

  #update(request: WriteRequest, name: string, produce: Produce, options: UpdateOptions, tell?: TellEvent): Promise<Stored> {
    return this.#changing(request, name, (current, attempt) => {
      if (current.record) tell?.(attempt === 0 ? 'initial value restored' : 'Retry value restored');
      return this.#replace(request, name, produce, options, current, tell);
    });
  }

  /** Tries a change as often as others have changed the object before it. Upstream: GuaranteedUpdate of etcd3/store.go. */
  async #changing<T>(request: WriteRequest, name: string, change: (current: CurrentRecord, attempt: number) => Promise<T>): Promise<T> {
    const current = await this.#current.of(this.#keyOf(request.namespace, name), !request.dryRun);
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      try {
        const changed = await change(current, attempt);
        if (current.isCurrent || !(await current.isOutdated())) return changed;
      } catch (error) {
        if (error instanceof ConflictError) current.lost(error);
        // Somebody else created it meanwhile: there is something to update now.
        else if (!current.record && isAlreadyExists(error) && (await current.readAgain())) continue;
        else if (!(await current.isOutdated())) throw error;
      }
    }
    throw newTimeoutError(`${this.definition.resource} ${JSON.stringify(name)}: other writers were faster ${maxAttempts} times`, 1);
  }

  async #createMissing(request: WriteRequest, name: string, produce: Produce, options: UpdateOptions): Promise<Stored> {
    if (!this.#strategy.allowCreateOnUpdate && !options.forceAllowCreate) throw newNotFound(this.groupResource, name);
    if (options.uid) throw this.#uidConflict(request, this.key(request.namespace, name), name, options.uid, '');
    const created = await produce(undefined, needsSteps(request.bodyBytes));
    // A version that can be parsed is not looked at, and the system fields stay: only creates do otherwise. Upstream: Update of generic/registry/store.go.
    parseVersion(created.metadata.resourceVersion);
    if (!request.dryRun) delete created.metadata.resourceVersion;
    return this.#create(request, created);
  }

  /** One try. Rejects with ConflictError where the store has another record. */
  async #replace(
    request: WriteRequest,
    name: string,
    produce: Produce,
    options: UpdateOptions,
    current: CurrentRecord,
    tell?: TellEvent,
  ): Promise<Stored> {
    if (!current.record) return this.#createMissing(request, name, produce, options);
    const key = this.key(request.namespace, name);
    const strategy = options.strategy ?? this.#strategy;
    const { bytes, revision } = current.record;
    const inParts = needsSteps(Math.max(request.bodyBytes, bytes.length));
    const existing = inParts ? await this.encoding.parseInSteps(bytes) : this.encoding.parse(bytes);
    if (inParts) await turnOfOthers();
    if (options.uid !== undefined && options.uid !== existing.metadata.uid)
      throw this.#uidConflict(request, key, name, options.uid, existing.metadata.uid ?? '');
    const object = await produce(existing, inParts);
    if (inParts) await turnOfOthers();
    this.#checkResourceVersion(object, String(revision), name);
    const finish = options.strategy ? undefined : await this.hooks.beginUpdate?.(object, existing, request);
    let stored = false;
    try {
      const prepared = this.#validating(object, () => this.#prepareUpdate(request, object, existing, strategy, inParts));
      if (prepared) await prepared;
      if (inParts) await turnOfOthers();
      const validated = request.validate('UPDATE', object, existing);
      if (validated) await validated;
      checkIdentity(object, this.#identity(request, name, existing.metadata.uid));
      const inSomeSteps = inParts ? await this.encoding.encodeInSteps(object) : undefined;
      object.metadata.resourceVersion = String(revision);
      const unchanged = inSomeSteps ? inSomeSteps.at(revision) : this.encoding.encode(object);
      if (
        (unchanged.equals(bytes) || this.encoding.onlyTimesDiffer(object, existing, unchanged, bytes)) &&
        !this.storage.needsRewrite?.(key) &&
        !(await this.hooks.isStale?.(key, existing))
      )
        return { object: existing, bytes, created: false };
      if (request.dryRun) return { object, bytes: await this.#asStored(unchanged), created: false };
      if (
        object.metadata.deletionTimestamp &&
        !object.metadata.finalizers?.length &&
        !object.metadata.deletionGracePeriodSeconds &&
        !this.#strategy.isHeld?.(object)
      ) {
        current.compared();
        await this.storage.delete(key, revision);
        await this.hooks.afterDelete?.(object, request);
        return { object, bytes: unchanged, created: false };
      }
      const at = inSomeSteps?.at ?? this.encoding.encodeAgain(object, unchanged, revision);
      const { length } = unchanged;
      const encodeAt = needsSteps(length) ? await this.#storable(request, object, { at, bytes: length }) : at;
      const made = tell ? encodingTold(encodeAt, tell, 'Transaction prepared') : encodeAt;
      current.compared();
      const updated = this.storage.update(key, revision, made, this.#writeOptions());
      const written = await (tell ? toldOf(tell, 'Txn call completed', updated) : updated);
      tell?.('Transaction committed');
      stored = true;
      this.#current.written(written);
      return { object, bytes: written.value, created: false };
    } finally {
      if (finish) await finish(stored);
    }
  }

  #asStored(bytes: Buffer): Buffer | Promise<Buffer> {
    return this.hooks.asStored?.(bytes) ?? bytes;
  }

  #checkResourceVersion(object: KubeObject, current: string, name: string): void {
    const sent = object.metadata.resourceVersion;
    if (parseVersion(sent) === 0n) {
      if (this.#strategy.allowUnconditionalUpdate === false) {
        throw newInvalid({ group: this.definition.group, kind: this.definition.resource }, name, [
          invalid(fieldPath('metadata').child('resourceVersion'), 0, 'must be specified for an update'),
        ]);
      }
      object.metadata.resourceVersion = current;
    } else if (sent !== current) {
      throw newConflict(this.groupResource, name, optimisticLock);
    }
  }

  /** Of a dry run, upstream names the key as it is above its storage. */
  #uidConflict({ dryRun }: WriteRequest, key: string, name: string, expected: string, actual: string): Error {
    const detail = `Precondition failed: UID in precondition: ${expected}, UID in object meta: ${actual}`;
    return newConflict(
      this.groupResource,
      name,
      `StorageError: invalid object, Code: 4, Key: ${dryRun ? '' : '/registry'}${key}, ResourceVersion: 0, AdditionalErrorMsg: ${detail}`,
    );
  }

  #prepareUpdate(
    request: WriteRequest,
    object: KubeObject,
    existing: KubeObject,
    strategy: Strategy,
    inParts: boolean,
  ): Promise<void> | undefined {
    const { metadata } = object;
    const old = existing.metadata;
    ensureNamespaceMatches(this.definition, request.namespace, object);
    assign(metadata, 'generation', old.generation);
    strategy.prepareForUpdate?.(object, existing, request);
    if (strategy.generation === 'spec' && !this.#isSameSpec(object, existing)) metadata.generation = nextGeneration(old.generation);
    metadata.uid ??= old.uid ?? '';
    assign(metadata, 'creationTimestamp', old.creationTimestamp);
    assign(metadata, 'selfLink', undefined);
    if (old.deletionTimestamp !== undefined) metadata.deletionTimestamp = old.deletionTimestamp;
    if (old.deletionGracePeriodSeconds !== undefined && metadata.deletionGracePeriodSeconds === undefined)
      metadata.deletionGracePeriodSeconds = old.deletionGracePeriodSeconds;
    const validate = (): Findings => ({
      ofMeta: [
        ...validateObjectMeta(metadata, { namespaced: this.definition.namespaced, nameFn: validatePathSegmentName }, fieldPath('metadata')),
        ...validateObjectMetaUpdate(metadata, old, fieldPath('metadata')),
        // Upstream checks the same twice, in the generic registry and in the kind's own validation: clients see both causes.
        ...(this.#strategy.genericMeta ? [] : validateObjectMetaUpdate(metadata, old, fieldPath('metadata'))),
        ...this.#finalizerErrors(object, strategy),
      ],
      ofKind: strategy.validateUpdate?.(object, existing, request) ?? [],
    });
    return this.#validate(request, object, existing, strategy, inParts, validate, ({ ofMeta, ofKind }) => {
      this.#throwInvalid([...ofMeta, ...ofKind], object);
      for (const text of strategy.warningsOnUpdate?.(object, existing, request) ?? []) request.warn(text);
      strategy.canonicalize?.(object, request);
    });
  }

  /** Of custom resources all that was written counts. */
  #isSameSpec(object: KubeObject, existing: KubeObject): boolean {
    if (this.definition.custom) return deepEqual(object['spec'], existing['spec']);
    return semanticDeepEqual(object['spec'], existing['spec'], this.type.fields.get('spec')?.type);
  }

  delete(request: WriteRequest, name: string, options: DeleteOptions): Promise<Deleted> {
    return this.#changing(request, name, (current) => this.#remove(request, name, options, current));
  }

  /** One try. Rejects with ConflictError where the store has another record. */
  async #remove(request: WriteRequest, name: string, options: DeleteOptions, current: CurrentRecord): Promise<Deleted> {
    if (!current.record) throw newNotFound(this.groupResource, name);
    const key = this.key(request.namespace, name);
    const { revision, bytes } = current.record;
    const inParts = needsSteps(bytes.length);
    const existing = inParts ? await this.encoding.parseInSteps(bytes) : this.encoding.parse(bytes);
    if (inParts) await turnOfOthers();
    // A deletion changes the metadata, and what begins it may change all.
    const changing = this.#strategy.beginDeletion ? existing : ({ metadata: existing.metadata } as KubeObject);
    const object = { ...existing, ...(inParts ? await inSteps(copyObjectSteps(changing)) : copyObject(changing)) };
    if (inParts) await turnOfOthers();
    const grace = beforeDelete(this.definition, object, options, request.now);
    if (grace === 'pending') return { stored: { object: existing, bytes, created: false }, gone: false };
    const validated = request.validate('DELETE', undefined, existing);
    if (validated) await validated;
    const begins = this.#strategy.beginDeletion !== undefined && object.metadata.deletionTimestamp === undefined;
    if (begins) this.#strategy.beginDeletion?.(object, request.now);
    const isCollected = !begins && this.definition.hasGarbageCollection !== false;
    const finalizers = !isCollected ? undefined : collectionFinalizers(this.#strategy, object.metadata, options);
    if (finalizers) object.metadata.finalizers = finalizers;
    const held = (object.metadata.finalizers?.length ?? 0) > 0 || (this.#strategy.isHeld?.(object) ?? false);
    if (held && grace === 'immediate' && !begins) markAsDeleting(this.#strategy, object, request.now);
    const stays = held || (grace === 'graceful' && (object.metadata.deletionGracePeriodSeconds ?? 0) > 0);
    const identity = this.#identity(request, name, existing.metadata.uid);
    checkIdentity(object, identity);
    const encodeAt = inParts ? (await this.encoding.encodeInSteps(object)).at : this.#encodeAt(object, identity);
    if (request.dryRun) return { stored: { object, bytes: encodeAt(revision), created: false }, gone: !stays };
    let last = revision;
    if (stays || grace === 'graceful') {
      if (encodeAt(revision).equals(bytes)) return { stored: { object: existing, bytes, created: false }, gone: false };
      current.compared();
      const marked = await this.storage.update(key, revision, encodeAt, this.#writeOptions());
      this.#current.written(marked);
      if (stays) return { stored: { object, bytes: marked.value, created: false }, gone: false };
      last = marked.revision;
    }
    current.compared();
    const deleted = await this.storage.delete(key, last);
    const encoded = encodeAt(deleted.revision);
    await this.hooks.afterDelete?.(object, request);
    return { stored: { object, bytes: encoded, created: false }, gone: true };
  }

  /**
   * Deletes an object that cannot be read, without a look at it. Throws Invalid for one that can be read, or is missing.
   * Upstream: corrupt_obj_deleter.go of the generic registry.
   */
  async deleteUnreadable(namespace: string, name: string): Promise<void> {
    const key = this.#keyOf(namespace, name);
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const record = await this.cacher.stored(key);
      if (!record?.failure) throw newNotUnreadable(this.groupResource, name);
      try {
        await this.storage.delete(key, record.revision);
        return;
      } catch (error) {
        if (!(error instanceof ConflictError)) throw error;
      }
    }
    throw newTimeoutError(`${this.definition.resource} ${JSON.stringify(name)}: other writers were faster ${maxAttempts} times`, 1);
  }

  /**
   * How an object is written: without the managers of its fields where it is too large with them and nobody applied it. Throws where it is
   * too large without them. Upstream: endpoints/handlers/rest.go (isTooLargeError).
   */
  async #storable(request: WriteRequest, object: KubeObject, encoded: EncodedObject): Promise<Encode> {
    const refusal = await inSteps(this.encoding.refusalSteps(object, encoded.bytes));
    if (!refusal) return encoded.at;
    if (request.isApply || !object.metadata.managedFields) throw refusal;
    delete object.metadata.managedFields;
    return this.#storable(request, object, await this.encoding.encodeInSteps(object));
  }

  #identity({ namespace }: WriteRequest, name: string, uid: string | undefined): Identity {
    const { namespaced } = this.definition;
    return { ...this.#kind, namespace: namespaced ? namespace : '', name, uid };
  }

  /** Encodes a small object at the revision that it gets. */
  #encodeAt(object: KubeObject, identity: Identity): Encode {
    return (revision) => {
      checkIdentity(object, identity);
      object.metadata.resourceVersion = String(revision);
      const encoded = this.encoding.encode(object);
      const refusal = this.encoding.refusal(object, encoded.length);
      if (refusal) throw refusal;
      return encoded;
    };
  }

  #writeOptions(): { ttlSeconds?: number } {
    return this.definition.ttlSeconds === undefined ? {} : { ttlSeconds: this.definition.ttlSeconds };
  }

  /** An object with more errors than are told is refused with those that were found. */
  #validating(object: KubeObject, prepare: () => Promise<void> | undefined): Promise<void> | undefined {
    const refuse = (error: unknown): never => {
      if (error instanceof TooManyErrors) this.#throwInvalid(error.errors, object);
      throw error;
    };
    try {
      // What found so many errors had its step.
      return prepare()?.catch((error: unknown) => turnOfOthers().then(() => refuse(error)));
    } catch (error) {
      return refuse(error);
    }
  }

  /** Custom resources are named by the kind that they say they are of. */
  #throwInvalid(errors: readonly FieldError[], { metadata: { name = '' }, kind, apiVersion }: KubeObject): void {
    if (errors.length === 0) return;
    const groupKind = this.definition.custom ? { group: parseGroupVersion(apiVersion).group, kind } : this.groupKind;
    throw newInvalid(groupKind, name, errors);
  }
}

function assign<T extends object, K extends keyof T>(target: T, key: K, value: T[K] | undefined): void {
  if (value === undefined) delete target[key];
  else target[key] = value;
}

/** A resourceVersion that a client sent; none is 0. Throws as Go's strconv does. */
function parseVersion(text: string | undefined): bigint {
  if (text === undefined || text === '') return 0n;
  if (!/^\d+$/.test(text)) throw new Error(`strconv.ParseUint: parsing ${quote(text)}: invalid syntax`);
  const version = BigInt(text);
  if (version > maxVersion) throw new Error(`strconv.ParseUint: parsing ${quote(text)}: value out of range`);
  return version;
}

/** Upstream: NamespaceKeyFunc and NoNamespaceKeyFunc of the generic registry. */
function newInvalidName(name: string): Error {
  return newBadRequest(`Name parameter invalid: ${quote(name)}: ${isValidPathSegmentName(name).join(';')}`);
}

/** Whether a new object has a resourceVersion, which only the storage asks: not a dry run, which answers what was sent. Upstream: Create of etcd3/store.go. */
function isVersionSet(text: string | undefined): boolean {
  return text !== undefined && /^\d+$/.test(text) && BigInt(text) !== 0n && BigInt(text) <= maxVersion;
}

function newNotUnreadable({ group, resource }: GroupResource, name: string): Error {
  return newInvalid({ group, kind: resource }, name, [
    invalid(
      fieldPath('ignoreStoreReadErrorWithClusterBreakingPotential'),
      true,
      'is exclusively used to delete corrupt object(s), try again by removing this option',
    ),
  ]);
}

/** A name of the base and five letters. */
export function generateName(base: string): string {
  let name = base.slice(0, maxGeneratedBase);
  const random = randomUUID().replaceAll('-', '');
  for (let at = 0; at < 5; at += 1) name += nameAlphabet[Number.parseInt(random.slice(at * 4, at * 4 + 4), 16) % nameAlphabet.length];
  return name;
}
