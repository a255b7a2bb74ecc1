import { isDeepStrictEqual } from 'node:util';
import { newAlreadyExists, newConflict, newNotFound } from '#apimachinery/api/errors';
import { parseSelector } from '#apimachinery/labels/selector';
import type { GroupResource, KubeObject } from '#apimachinery/meta/types';
import { deepCopy } from '#apimachinery/runtime/copy';
import { applyMergePatch } from '#apimachinery/patch/merge-patch';
import { atOnce } from '#apimachinery/runtime/steps';
import type { ControllerClient } from '#apiserver/controllers/controller-client';
import type { EventType } from '#apiserver/controllers/event-form';
import type { EventRecorder } from '#apiserver/controllers/event-recorder';
import { CachedSharedInformers, type SharedInformers } from '#apiserver/controllers/shared-informer';
import type { Informer } from '#apiserver/registry/informers';
import type { ClientTarget, DeleteOptions, ListOptions, ObjectPatch } from '#apiserver/registry/client';

/** A write of a controller. */
export interface RecordedWrite {
  readonly verb: 'create' | 'update' | 'patch' | 'apply' | 'delete';
  /** `pods`, `deployments.apps/status`. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

export interface RecordedEvent {
  readonly type: EventType;
  readonly reason: string;
  readonly message: string;
}

type Listener = Parameters<Informer['subscribe']>[0];

interface Stored {
  readonly objects: Map<string, KubeObject>;
  readonly listeners: Set<Listener>;
}

const keyOf = (namespace: string, name: string): string => (namespace ? `${namespace}/${name}` : name);
const nameOf = ({ group, resource }: GroupResource): string => (group ? `${resource}.${group}` : resource);

/**
 * Objects in memory, with a client, informers and an event recorder for a controller under test. It has neither validation nor defaults,
 * and deletes objects at once unless they have finalizers; a test cluster (`kubenest/testing`) has everything.
 */
export class FakeCluster implements ControllerClient, EventRecorder {
  readonly writes: RecordedWrite[] = [];
  readonly events: RecordedEvent[] = [];
  /** Informers that are up to date at once. */
  readonly informers: SharedInformers;
  readonly #resources = new Map<string, Stored>();
  #revision = 0;

  /** `objects`: by `resource.group` (`configmaps`, `deployments.apps`). */
  constructor(objects: Readonly<Record<string, readonly KubeObject[]>> = {}) {
    for (const [resource, list] of Object.entries(objects)) for (const object of list) this.#store(this.#of(resource), deepCopy(object));
    this.informers = new CachedSharedInformers({ late: (resource) => this.#informer(resource) }, (error) => {
      throw error;
    });
  }

  /** Returns a stored object; undefined if it does not exist. `resource`: `configmaps`, `deployments.apps`. */
  stored(resource: string, namespace: string, name: string): KubeObject | undefined {
    return this.#of(resource).objects.get(keyOf(namespace, name));
  }

  /** Returns the stored objects of a resource. */
  all(resource: string): KubeObject[] {
    return [...this.#of(resource).objects.values()];
  }

  async get<T extends KubeObject = KubeObject>(target: ClientTarget, namespace: string, name: string): Promise<T | undefined> {
    const stored = this.stored(nameOf(target), namespace, name);
    return stored && (deepCopy(stored) as T);
  }

  async list<T extends KubeObject>(target: ClientTarget, namespace: string, { labelSelector = '' }: ListOptions = {}): Promise<T[]> {
    const selector = parseSelector(labelSelector);
    return this.all(nameOf(target))
      .filter(({ metadata }) => (!namespace || metadata.namespace === namespace) && selector.matches(metadata.labels ?? {}))
      .map((object) => deepCopy(object) as T);
  }

  async create<T extends KubeObject>(target: ClientTarget, object: T): Promise<T> {
    const { namespace = '', generateName } = object.metadata;
    const name = object.metadata.name ?? `${generateName}${this.#revision + 1}`;
    if (this.stored(nameOf(target), namespace, name)) throw newAlreadyExists(target, name);
    this.#record('create', target, namespace, name);
    return this.#write(target, { ...object, metadata: { ...object.metadata, name } }) as T;
  }

  async update<T extends KubeObject>(
    target: ClientTarget,
    namespace: string,
    name: string,
    change: (object: T) => T | undefined,
  ): Promise<T | undefined> {
    const current = await this.get<T>(target, namespace, name);
    const next = current && change(current);
    return next && this.replace(target, next);
  }

  async replace<T extends KubeObject>(target: ClientTarget, object: T): Promise<T> {
    const { namespace = '', name = '', resourceVersion } = object.metadata;
    const present = this.#existing(target, namespace, name);
    if (resourceVersion && resourceVersion !== present.metadata.resourceVersion)
      throw newConflict(target, name, 'the object has been modified; please apply your changes to the latest version and try again');
    this.#record('update', target, namespace, name);
    return this.#write(target, object) as T;
  }

  /** Applies a merge patch, also for `strategic`, whose lists it replaces. Throws for a JSON patch. */
  async patch<T extends KubeObject>(target: ClientTarget, namespace: string, name: string, { type, patch }: ObjectPatch): Promise<T> {
    if (type === 'json') throw new Error('FakeCluster: JSON patches need a test cluster');
    const present = this.#existing(target, namespace, name);
    this.#record('patch', target, namespace, name);
    return this.#write(target, atOnce(applyMergePatch(deepCopy(present), patch)) as KubeObject) as T;
  }

  /** Creates the object or merges it into the stored one; there are no field managers. */
  async apply<T extends KubeObject>(target: ClientTarget, object: T): Promise<T> {
    const { namespace = '', name = '' } = object.metadata;
    const present = this.stored(nameOf(target), namespace, name);
    const merged = present ? (atOnce(applyMergePatch(deepCopy(present), object)) as T) : object;
    this.#record('apply', target, namespace, name);
    return this.#write(target, merged) as T;
  }

  async read<T>(path: string): Promise<T> {
    throw new Error(`FakeCluster: ${path} needs a test cluster`);
  }

  async delete(target: ClientTarget, namespace: string, name: string): Promise<void> {
    await this.remove(target, namespace, name);
  }

  async remove(target: ClientTarget, namespace: string, name: string, { preconditions }: DeleteOptions = {}): Promise<boolean> {
    const present = this.stored(nameOf(target), namespace, name);
    if (!present) return false;
    if (preconditions?.uid && preconditions.uid !== present.metadata.uid)
      throw newConflict(target, name, 'Precondition failed: UID in precondition');
    this.#record('delete', target, namespace, name);
    if (present.metadata.finalizers?.length) {
      this.#write(target, { ...present, metadata: { ...present.metadata, deletionTimestamp: '1970-01-01T00:00:00Z' } });
      return true;
    }
    this.#drop(target, present);
    return true;
  }

  async removeAll(target: ClientTarget, namespace: string, options: DeleteOptions & ListOptions = {}): Promise<void> {
    for (const { metadata } of await this.list(target, namespace, options)) await this.remove(target, namespace, metadata.name as string);
  }

  event(_object: KubeObject, type: EventType, reason: string, message: string): void {
    this.events.push({ type, reason, message });
  }

  #existing(target: ClientTarget, namespace: string, name: string): KubeObject {
    const present = this.stored(nameOf(target), namespace, name);
    if (!present) throw newNotFound(target, name);
    return present;
  }

  #record(verb: RecordedWrite['verb'], target: ClientTarget, namespace: string, name: string): void {
    const resource = target.subresource ? `${nameOf(target)}/${target.subresource}` : nameOf(target);
    this.writes.push({ verb, resource, namespace, name });
  }

  /** Stores an object. The status changes only through its subresource (or `approval`), if the object has one already. */
  #write(target: ClientTarget, object: KubeObject): KubeObject {
    const { namespace = '', name = '' } = object.metadata;
    const present = this.stored(nameOf(target), namespace, name);
    const isStatus = target.subresource === 'status' || target.subresource === 'approval';
    const written = !present ? object : isStatus ? { ...present, status: object['status'] } : withStatusOf(object, present);
    const stored = this.#store(this.#of(nameOf(target)), deepCopy(written));
    if (stored.metadata.deletionTimestamp && !stored.metadata.finalizers?.length) this.#drop(target, stored);
    return deepCopy(stored);
  }

  #store({ objects, listeners }: Stored, object: KubeObject): KubeObject {
    const { namespace = '', name = '' } = object.metadata;
    const old = objects.get(keyOf(namespace, name));
    if (old && isDeepStrictEqual(withoutRevision(object), withoutRevision(old))) return old;
    this.#revision += 1;
    const metadata = { uid: `uid-${this.#revision}`, ...object.metadata, resourceVersion: `${this.#revision}` };
    const stored = { ...object, metadata };
    objects.set(keyOf(namespace, name), stored);
    for (const listener of listeners) listener(old ? 'MODIFIED' : 'ADDED', stored);
    return stored;
  }

  #drop(target: GroupResource, object: KubeObject): void {
    const { objects, listeners } = this.#of(nameOf(target));
    objects.delete(keyOf(object.metadata.namespace ?? '', object.metadata.name as string));
    for (const listener of listeners) listener('DELETED', object);
  }

  #of(resource: string): Stored {
    let stored = this.#resources.get(resource);
    if (!stored) {
      stored = { objects: new Map(), listeners: new Set() };
      this.#resources.set(resource, stored);
    }
    return stored;
  }

  #informer<T extends KubeObject>(resource: GroupResource): Informer<T> {
    const stored = this.#of(nameOf(resource));
    return {
      get: (namespace, name) => stored.objects.get(keyOf(namespace, name)) as T | undefined,
      list: (namespace = '') =>
        [...stored.objects.values()].filter(({ metadata }) => !namespace || metadata.namespace === namespace) as T[],
      subscribe: (listener, progress = {}) => {
        for (const object of stored.objects.values()) listener('ADDED', object as T);
        progress.synced?.();
        stored.listeners.add(listener as Listener);
        return { [Symbol.dispose]: () => void stored.listeners.delete(listener as Listener) };
      },
    };
  }
}

function withStatusOf(object: KubeObject, present: KubeObject): KubeObject {
  return present['status'] === undefined ? object : { ...object, status: present['status'] };
}

function withoutRevision(object: KubeObject): KubeObject {
  const { resourceVersion: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
