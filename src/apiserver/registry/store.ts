import type { Buffer } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import {
  isAlreadyExists,
  newAlreadyExists,
  newBadRequest,
  newConflict,
  newGenerateNameConflict,
  newInvalid,
  newNotFound,
  newTimeoutError,
  type StatusError,
} from '#apimachinery/api/errors';
import { type DeleteOptions, type GroupKind, type GroupResource, groupVersionString, type KubeObject } from '#apimachinery/meta/types';
import { copyObject, copyObjectSteps } from '#apimachinery/managedfields/copy-object';
import { quote } from '#apimachinery/runtime/quote';
import type { AddEvent } from '#apiserver/request/request-span';
import type { StructType, TypeSource } from '#apimachinery/runtime/schema';
import { paceOf, yielding } from '#apimachinery/runtime/pace';
import { fieldPath, invalid } from '#apimachinery/validation/field';
import { isValidPathSegmentName, nameIsDNSLabel } from '#apimachinery/validation/names';
import type { CachedObject } from '#apiserver/storage/cacher/cached-object';
import type { Cacher } from '#apiserver/storage/cacher/cacher';
import type { Predicate } from '#apiserver/storage/cacher/predicate';
import { ConflictError, KeyExistsError } from '#apiserver/storage/errors';
import type { Encode, Storage } from '#apiserver/storage/storage';
import { type CurrentRecord, CurrentRecords } from './current-record.ts';
import { beforeDelete, collectionFinalizers, markAsDeleting } from './deletion.ts';
import { type EncodedObject, ObjectEncoding } from './object-encoding.ts';
import type { ResourceDefinition, Strategy } from './resource-definition.ts';
import { encodingWithEvents, withTransactionEvent } from './write-events.ts';
import { checkIdentity, type Identity, type OnRefusal } from './identity.ts';
import { generateName } from './generated-name.ts';
import { wipeSystemFields } from './system-fields.ts';
import type { Deleted, Produce, StoreHooks, Stored, UpdateOptions, WriteRequest } from './write.ts';
import { WritePreparation } from './write-preparation.ts';

/** Maximum number of attempts of a compare-and-swap. */
const maxAttempts = 64;
const generatedNameAttempts = 8;
/** Largest uint64. */
const maxVersion = 0xffff_ffff_ffff_ffffn;
const optimisticLock = 'the object has been modified; please apply your changes to the latest version and try again';

/** One replacement of a stored object. */
interface Update {
  readonly request: WriteRequest;
  readonly name: string;
  readonly produce: Produce;
  readonly options: UpdateOptions;
  /** Adds an event to the span of the update; undefined without tracing. */
  readonly addEvent?: AddEvent;
}

/** Returns upstream's text of a failed precondition. In a dry run it has the key without the storage prefix. */
export function invalidObjectText(key: string, detail: string, dryRun: boolean): string {
  return `StorageError: invalid object, Code: 4, Key: ${dryRun ? '' : '/registry'}${key}, ResourceVersion: 0, AdditionalErrorMsg: ${detail}`;
}

/**
 * Reads and writes the objects of a resource: metadata rules, strategy, admission, validation, compare-and-swap, finalizers.
 * Objects are in the storage version. Upstream: apiserver/pkg/registry/generic/registry/store.go.
 */
export class Store {
  readonly type: StructType;
  readonly encoding: ObjectEncoding;
  readonly groupResource: GroupResource;
  /** Group kind of the stored version: errors name `Event`, not `Event.events.k8s.io`. */
  readonly groupKind: GroupKind;
  /** apiVersion and kind of each stored object. */
  readonly #kind: Pick<Identity, 'apiVersion' | 'kind'>;
  readonly #strategy: Strategy;
  readonly #preparation: WritePreparation;
  readonly #cacher: Cacher | undefined;
  #records: CurrentRecords | undefined;

  /** A virtual resource has no cacher. */
  constructor(
    readonly definition: ResourceDefinition,
    readonly storage: Storage,
    cacher: Cacher | undefined,
    schemas: TypeSource,
    readonly hooks: StoreHooks = {},
    readonly onRefusal?: OnRefusal,
  ) {
    this.#cacher = cacher;
    this.type = schemas.struct(definition.storageVersion?.schema ?? definition.schema);
    this.encoding = new ObjectEncoding(this.type, definition.custom !== undefined);
    this.groupResource = { group: definition.group, resource: definition.resource };
    const version = definition.storageVersion?.version ?? definition;
    this.#kind = { apiVersion: groupVersionString({ group: version.group, version: version.version }), kind: definition.kind };
    this.groupKind = { group: version.group, kind: definition.kind };
    this.#strategy = definition.strategy;
    this.#preparation = new WritePreparation(definition, this.type, this.groupKind, hooks);
  }

  /** The watch cache. Throws for a virtual resource. */
  get cacher(): Cacher {
    if (!this.#cacher) throw new Error(`${this.definition.resource} are not stored`);
    return this.#cacher;
  }

  get #current(): CurrentRecords {
    return (this.#records ??= new CurrentRecords(this.cacher));
  }

  /**
   * Returns the storage key, such as `/pods/default/web-1`; without a name the prefix of the namespace, without a namespace
   * that of all objects.
   */
  key(namespace: string, name: string): string {
    const { namespaced, storagePath } = this.definition;
    if (name === '.' || name === '..' || name.includes('%') || name.includes('/')) throw newInvalidName(name);
    if (namespaced && (namespace === '.' || namespace === '..')) this.#refuseKey(`${namespace}/${name}`);
    return namespaced ? `/${storagePath}/${namespace}/${name}` : `/${storagePath}/${name}`;
  }

  /**
   * Returns the key of an object accessed by name. Throws BadRequest if a namespaced resource has no namespace. Upstream:
   * generic/registry/store.go (NamespaceKeyFunc).
   */
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

  /**
   * Returns the key of the object that a predicate selects by its name; otherwise the prefix of the namespace, which a field
   * selector may name. The end of such a list is then known without a further page. A continued list has the prefix, to which its
   * token is relative. Upstream: ListPredicate in generic/registry/store.go, MatchesSingle in storage/selection_predicate.go.
   */
  selectedScope(namespace: string, { exactName = '', exactNamespace = '' }: Predicate, isContinued: boolean): string {
    if (isContinued) return this.prefix(namespace);
    const within = namespace === '' && nameIsDNSLabel(exactNamespace, false).length === 0 ? exactNamespace : namespace;
    const isKey = exactName !== '' && isValidPathSegmentName(exactName).length === 0 && (within !== '' || !this.definition.namespaced);
    return isKey ? this.key(within, exactName) : this.prefix(within);
  }

  /** Inverts `key`: returns the namespace and name of a key. */
  placeOf(key: string): { readonly namespace: string; readonly name: string } {
    const [name = '', namespace = ''] = key.split('/').reverse();
    return { namespace: this.definition.namespaced ? namespace : '', name };
  }

  /** Returns the object, synchronously if the cache can answer. Throws NotFound. */
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

  /** `isUpdate`: a missing object is created by an update, whose resourceVersion may be set by admission. */
  async #create(request: WriteRequest, object: KubeObject, isUpdate = false): Promise<Stored> {
    const admitted = request.admit('CREATE', object, undefined);
    if (admitted) await admitted;
    // Admission may have replaced the object's members.
    const { metadata } = object;
    if (isUpdate) parseVersion(metadata.resourceVersion);
    const generate = !metadata.name && metadata.generateName;
    const pace = paceOf(request.bodyBytes);
    await pace.rest();
    const uid = randomUUID();
    metadata.uid = uid;
    metadata.creationTimestamp = request.now;
    for (let attempt = 1; ; attempt += 1) {
      if (generate && !metadata.name) metadata.name = generateName(metadata.generateName ?? '');
      const finish = this.hooks.beginCreate && (await this.hooks.beginCreate(object, request));
      let stored = false;
      try {
        const prepared = attempt === 1 ? this.#preparation.create(request, object, pace) : undefined;
        if (prepared) await prepared;
        await pace.rest();
        // Mutating admission may have set the name; it does not change from here on.
        const name = metadata.name ?? '';
        const validated = request.validate('CREATE', object, undefined);
        if (validated) await validated;
        const key = this.key(request.namespace, name);
        const identity = this.#identity(request, name, uid);
        checkIdentity(object, identity, this.onRefusal);
        if (request.dryRun) {
          if (await this.cacher.get(key, '')) throw await this.#alreadyExists(key, metadata);
          const bytes = await this.encoding.encodeAt(pace, object);
          return { object, bytes: await this.#asStored(bytes), created: true };
        }
        if (!isUpdate && isVersionSet(metadata.resourceVersion))
          throw new Error('resourceVersion should not be set on objects to be created');
        delete metadata.resourceVersion;
        const encodeAt = pace.isImmediate
          ? this.#encodeAt(object, identity)
          : await this.#storable(request, object, await this.encoding.encodeRevision(pace, object, 0));
        const store = (made: Encode) => this.storage.create(key, made, this.#writeOptions());
        const { span } = request;
        const create = span
          ? (made: Encode) =>
              span.around('Create etcd3', this.#spanAttributes(key), (addEvent) =>
                withTransactionEvent(addEvent, 'Txn call succeeded', store(encodingWithEvents(made, addEvent))),
              )
          : store;
        const record = await create(encodeAt);
        stored = true;
        this.#current.written(record);
        return { object, bytes: record.value, created: true };
      } catch (error) {
        if (!(error instanceof KeyExistsError)) throw error;
        if (!generate) throw await this.#alreadyExists(error.key, metadata);
        if (attempt === generatedNameAttempts) throw newGenerateNameConflict(this.groupResource, metadata.name ?? '', 1);
        delete metadata.name;
        // Some stores encode an object before they find out that its key exists.
        delete metadata.resourceVersion;
      } finally {
        if (finish) await finish(stored);
      }
    }
  }

  /**
   * Returns the error of a create with the key of an existing object. Upstream: Create of generic/registry/store.go,
   * CheckGeneratedNameError.
   */
  async #alreadyExists(key: string, { name = '', generateName: prefix = '' }: KubeObject['metadata']): Promise<StatusError> {
    const existing = await this.cacher.get(key, '');
    const isBeingDeleted = existing?.object.metadata.deletionTimestamp !== undefined;
    const circumstance = isBeingDeleted ? 'object is being deleted: ' : '';
    return prefix === ''
      ? newAlreadyExists(this.groupResource, name, circumstance)
      : newGenerateNameConflict(this.groupResource, name, 1, circumstance);
  }

  /**
   * Replaces the stored object by the result of `produce`, with retries after conflicts. Upstream: Store.Update over
   * GuaranteedUpdate.
   */
  update(request: WriteRequest, name: string, produce: Produce, options: UpdateOptions = {}): Promise<Stored> {
    const { span, namespace } = request;
    const update: Update = { request, name, produce, options };
    if (!span) return this.#update(update);
    const attributes = this.#spanAttributes(this.key(namespace, name));
    return span.around('GuaranteedUpdate etcd3', attributes, (addEvent) => this.#update({ ...update, addEvent }));
  }

  #spanAttributes(key: string): (readonly [string, string])[] {
    const { group, resource } = this.groupResource;
    return [
      ['key', key],
      ['group', group],
      ['resource', resource],
    ];
  }

  #update(update: Update): Promise<Stored> {
    return this.#changing(update.request, update.name, (current, attempt) => {
      if (current.record) update.addEvent?.(attempt === 0 ? 'initial value restored' : 'Retry value restored');
      return this.#replace(update, current);
    });
  }

  /** Runs a change and retries it after conflicts. Upstream: GuaranteedUpdate of etcd3/store.go. */
  async #changing<T>(request: WriteRequest, name: string, change: (current: CurrentRecord, attempt: number) => Promise<T>): Promise<T> {
    const current = await this.#current.of(this.#keyOf(request.namespace, name), !request.dryRun);
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      try {
        const changed = await change(current, attempt);
        if (current.isCurrent || !(await current.isOutdated())) return changed;
      } catch (error) {
        if (error instanceof ConflictError) current.lost(error);
        // Another client created the object meanwhile, so it can be updated now.
        else if (!current.record && isAlreadyExists(error) && (await current.readAgain())) continue;
        else if (!(await current.isOutdated())) throw error;
      }
    }
    throw newTimeoutError(
      `${this.definition.resource} ${JSON.stringify(name)}: gave up after ${maxAttempts} conflicts with other writers`,
      1,
    );
  }

  async #createMissing({ request, name, produce, options }: Update): Promise<Stored> {
    if (!this.#strategy.allowCreateOnUpdate && !options.forceAllowCreate) throw newNotFound(this.groupResource, name);
    if (options.uid) throw this.#uidConflict(request, this.key(request.namespace, name), name, options.uid, '');
    const created = await produce(undefined, paceOf(request.bodyBytes));
    // Only the syntax of the version is checked, and system fields are kept, unlike in a create. Upstream: Update of
    // generic/registry/store.go.
    parseVersion(created.metadata.resourceVersion);
    if (!request.dryRun) delete created.metadata.resourceVersion;
    return this.#create(request, created, true);
  }

  /** One attempt. Rejects with ConflictError if the store has another record. */
  async #replace(update: Update, current: CurrentRecord): Promise<Stored> {
    if (!current.record) return this.#createMissing(update);
    const { request, name, produce, options, addEvent } = update;
    const key = this.key(request.namespace, name);
    const strategy = options.strategy ?? this.#strategy;
    const { bytes, revision } = current.record;
    const pace = paceOf(Math.max(request.bodyBytes, bytes.length));
    const existing = await this.encoding.parseAt(pace, bytes);
    await pace.rest();
    if (options.uid !== undefined && options.uid !== existing.metadata.uid)
      throw this.#uidConflict(request, key, name, options.uid, existing.metadata.uid ?? '');
    const object = await produce(existing, pace);
    await pace.rest();
    this.#checkResourceVersion(object, String(revision), name);
    const finish = options.strategy ? undefined : await this.hooks.beginUpdate?.(object, existing, request);
    let stored = false;
    try {
      const prepared = this.#preparation.update(request, object, existing, strategy, pace);
      if (prepared) await prepared;
      await pace.rest();
      const validated = request.validate('UPDATE', object, existing, pace);
      if (validated) await validated;
      checkIdentity(object, this.#identity(request, name, existing.metadata.uid), this.onRefusal);
      const encoded = await this.encoding.encodeRevision(pace, object, revision);
      const unchanged = encoded.bytes;
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
      const encodeAt = paceOf(unchanged.length).isImmediate ? encoded.at : await this.#storable(request, object, encoded);
      const made = addEvent ? encodingWithEvents(encodeAt, addEvent, 'Transaction prepared') : encodeAt;
      current.compared();
      const updated = this.storage.update(key, revision, made, this.#writeOptions());
      const written = await (addEvent ? withTransactionEvent(addEvent, 'Txn call completed', updated) : updated);
      addEvent?.('Transaction committed');
      stored = true;
      this.#current.written(written);
      // A storage that converts has encoded the object before it knew the revision.
      object.metadata.resourceVersion = String(written.revision);
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

  /** Returns the conflict of uids. */
  #uidConflict({ dryRun }: WriteRequest, key: string, name: string, expected: string, actual: string): Error {
    const detail = `Precondition failed: UID in precondition: ${expected}, UID in object meta: ${actual}`;
    return newConflict(this.groupResource, name, invalidObjectText(key, detail, dryRun));
  }

  delete(request: WriteRequest, name: string, options: DeleteOptions): Promise<Deleted> {
    return this.#changing(request, name, (current) => this.#remove(request, name, options, current));
  }

  /** One attempt. Rejects with ConflictError if the store has another record. */
  async #remove(request: WriteRequest, name: string, options: DeleteOptions, current: CurrentRecord): Promise<Deleted> {
    if (!current.record) throw newNotFound(this.groupResource, name);
    const key = this.key(request.namespace, name);
    const { revision, bytes } = current.record;
    const pace = paceOf(bytes.length);
    const existing = await this.encoding.parseAt(pace, bytes);
    await pace.rest();
    // A deletion changes only the metadata, unless `beginDeletion` changes other fields.
    const changing = this.#strategy.beginDeletion ? existing : ({ metadata: existing.metadata } as KubeObject);
    const copy = await pace.either(
      () => copyObject(changing),
      () => copyObjectSteps(changing),
    );
    const object = { ...existing, ...copy };
    await pace.rest();
    const grace = beforeDelete(this.definition, object, options, request.now);
    if (grace === 'pending') return { stored: { object: existing, bytes, created: false }, gone: false };
    const validated = request.validate('DELETE', undefined, existing, pace);
    if (validated) await validated;
    const begins = this.#strategy.beginDeletion !== undefined && object.metadata.deletionTimestamp === undefined;
    if (begins) this.#strategy.beginDeletion?.(object, request.now);
    const isCollected = !begins && this.definition.hasGarbageCollection !== false;
    const finalizers = !isCollected ? undefined : collectionFinalizers(this.#strategy, object.metadata, options);
    if (finalizers) object.metadata.finalizers = finalizers;
    const held = (object.metadata.finalizers?.length ?? 0) > 0 || (this.#strategy.isHeld?.(object) ?? false);
    // Upstream answers with what it has deleted: finalizers that the options take away are still in it.
    if (!held && finalizers && grace === 'immediate') object.metadata.finalizers = existing.metadata.finalizers ?? [];
    if (held && grace === 'immediate' && !begins) markAsDeleting(this.#strategy, object, request.now);
    const stays = held || (grace === 'graceful' && (object.metadata.deletionGracePeriodSeconds ?? 0) > 0);
    const identity = this.#identity(request, name, existing.metadata.uid);
    checkIdentity(object, identity, this.onRefusal);
    const encodeAt = pace.isImmediate ? this.#encodeAt(object, identity) : (await this.encoding.encodeRevision(pace, object, revision)).at;
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
   * Deletes an unreadable object without decoding it. Throws Invalid if the object is readable or missing. Upstream:
   * corrupt_obj_deleter.go of the generic registry.
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
    throw newTimeoutError(
      `${this.definition.resource} ${JSON.stringify(name)}: gave up after ${maxAttempts} conflicts with other writers`,
      1,
    );
  }

  /**
   * Returns the encoder of an object, without managedFields if they make it too large and it was never applied. Throws if it is
   * too large without them. Upstream: endpoints/handlers/rest.go (isTooLargeError).
   */
  async #storable(request: WriteRequest, object: KubeObject, encoded: EncodedObject): Promise<Encode> {
    const refusal = await yielding.run(this.encoding.refusalSteps(object, encoded.bytes.length));
    if (!refusal) return encoded.at;
    if (request.isApply || !object.metadata.managedFields) throw refusal;
    delete object.metadata.managedFields;
    return this.#storable(request, object, await this.encoding.encodeRevision(yielding, object, 0));
  }

  #identity({ namespace }: WriteRequest, name: string, uid: string | undefined): Identity {
    const { namespaced } = this.definition;
    return { ...this.#kind, namespace: namespaced ? namespace : '', name, uid };
  }

  /** Returns the encoder of a small object. */
  #encodeAt(object: KubeObject, identity: Identity): Encode {
    return (revision) => {
      checkIdentity(object, identity, this.onRefusal);
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
}

/** Parses a resourceVersion sent by a client; undefined is 0. Throws strconv's errors. */
function parseVersion(text: string | undefined): bigint {
  if (text === undefined || text === '') return 0n;
  if (!/^\d+$/.test(text)) throw new Error(`strconv.ParseUint: parsing ${quote(text)}: invalid syntax`);
  const version = BigInt(text);
  if (version > maxVersion) throw new Error(`strconv.ParseUint: parsing ${quote(text)}: value out of range`);
  return version;
}

/** Returns the error of an invalid name. Upstream: NamespaceKeyFunc and NoNamespaceKeyFunc of the generic registry. */
function newInvalidName(name: string): Error {
  return newBadRequest(`Name parameter invalid: ${quote(name)}: ${isValidPathSegmentName(name).join(';')}`);
}

/**
 * True if a new object has a resourceVersion. Only the storage checks this, so a dry run accepts it. Upstream: Create of
 * etcd3/store.go.
 */
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
