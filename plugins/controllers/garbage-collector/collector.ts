import {
  type ControllerClient,
  type EventRecorder,
  isConflict,
  isNotFound,
  type KubeObject,
  type OwnerReference,
  type ServedResource,
} from 'kubenest/sdk';
import {
  foregroundFinalizer,
  groupOf,
  isDeletingDependents,
  isOrphaning,
  isOwner,
  type Node,
  type ObjectGraph,
  orphanFinalizer,
} from './object-graph.ts';

export interface CollectorParts {
  readonly graph: ObjectGraph;
  readonly client: ControllerClient;
  readonly recorder: EventRecorder;
  /** Returns the served resource of a kind; undefined if there is none. */
  resourceOf(group: string, kind: string): ServedResource | undefined;
  /** Processes a node again. */
  requeue(uid: string): void;
}

/** The owners of an object by their state. */
interface Owners {
  readonly solid: readonly OwnerReference[];
  readonly absent: readonly OwnerReference[];
  /** Owners that wait for the deletion of their dependents. */
  readonly waiting: readonly OwnerReference[];
}

/** Deletes objects without owners, and completes deletions that wait for dependents. Upstream: pkg/controller/garbagecollector. */
export class Collector {
  constructor(private readonly parts: CollectorParts) {}

  /** Deletes the object if its owners are gone, or lets its own deletion continue. */
  async attemptToDelete(uid: string): Promise<void> {
    const node = this.parts.graph.get(uid);
    if (!node) return;
    if (isDeletingDependents(node)) return this.#continueDeletion(node);
    // A deletion that has begun ends by itself.
    if (node.isBeingDeleted || node.owners.length === 0) return;
    const { solid, absent, waiting } = await this.#classify(node);
    if (solid.length > 0) {
      const gone = new Set([...absent, ...waiting].map((owner) => owner.uid));
      if (gone.size > 0) await this.#patchOrRequeue(node, { ownerReferences: node.owners.filter((owner) => !gone.has(owner.uid)) });
      return;
    }
    const dependents = this.parts.graph.dependentsOf(uid);
    if (waiting.length > 0 && dependents.length > 0) {
      if (dependents.some(isDeletingDependents)) await this.#unblock(node);
      return this.#delete(node, 'Foreground');
    }
    return this.#delete(node, policyOf(node));
  }

  /** Detaches the dependents of an object, and then lets its deletion continue. */
  async attemptToOrphan(uid: string): Promise<void> {
    const owner = this.parts.graph.get(uid);
    if (!owner || !isOrphaning(owner)) return;
    const detached = await Promise.all(
      this.parts.graph
        .dependentsOf(uid)
        .map((dependent) => this.#patch(dependent, { ownerReferences: dependent.owners.filter((reference) => reference.uid !== uid) })),
    );
    if (!detached.every(Boolean))
      throw new Error(`dependents of ${owner.resource.resource} ${owner.name} changed while they were detached`);
    const finalizers = owner.finalizers.filter((name) => name !== orphanFinalizer);
    // Other controllers, such as the one that counts the detached pods, may write the owner at the same time.
    if (!(await this.#patch(owner, { finalizers })))
      throw new Error(`${owner.resource.resource} ${owner.name} changed while it was released`);
  }

  async #continueDeletion(node: Node): Promise<void> {
    const blocking = this.parts.graph.blockingDependentsOf(node.uid);
    if (blocking.length === 0) {
      const finalizers = node.finalizers.filter((name) => name !== foregroundFinalizer);
      return this.#patchOrRequeue(node, { finalizers });
    }
    for (const dependent of blocking) if (!isDeletingDependents(dependent)) this.parts.requeue(dependent.uid);
  }

  async #classify(node: Node): Promise<Owners> {
    const solid: OwnerReference[] = [];
    const absent: OwnerReference[] = [];
    const waiting: OwnerReference[] = [];
    for (const reference of node.owners) {
      const state = await this.#stateOf(reference, node);
      (state === 'absent' ? absent : state === 'waiting' ? waiting : solid).push(reference);
    }
    return { solid, absent, waiting };
  }

  async #stateOf(reference: OwnerReference, node: Node): Promise<'solid' | 'absent' | 'waiting'> {
    const { graph } = this.parts;
    const known = graph.get(reference.uid);
    if (known) {
      if (isOwner(known, reference, node)) return isDeletingDependents(known) ? 'waiting' : 'solid';
      if (known.namespace !== '' && known.namespace !== node.namespace) this.#reportInvalid(reference, node);
    }
    if (graph.isAbsent(reference.uid)) return 'absent';
    const group = groupOf(reference.apiVersion);
    const resource = this.parts.resourceOf(group, reference.kind);
    if (!resource)
      throw new Error(`no served resource has kind ${reference.kind} in group "${group}", owner of ${node.resource.resource} ${node.name}`);
    if (resource.namespaced && node.namespace === '') {
      this.#reportInvalid(reference, node);
      return 'solid';
    }
    const owner = await this.parts.client.get(resource, resource.namespaced ? node.namespace : '', reference.name);
    if (owner?.metadata.uid === reference.uid) return 'solid';
    if (!known) graph.markAbsent(reference.uid);
    return 'absent';
  }

  #reportInvalid(reference: OwnerReference, node: Node): void {
    const { apiVersion, kind, name, uid } = reference;
    const identity = `[${apiVersion}/${kind}, namespace: ${node.namespace}, name: ${name}, uid: ${uid}]`;
    this.parts.recorder.event(
      objectOf(node),
      'Warning',
      'OwnerRefInvalidNamespace',
      `ownerRef ${identity} does not exist in namespace ${JSON.stringify(node.namespace)}`,
    );
  }

  async #unblock(node: Node): Promise<void> {
    const ownerReferences = node.owners.map((owner) => (owner.blockOwnerDeletion ? { ...owner, blockOwnerDeletion: false } : owner));
    await this.#patchOrRequeue(node, { ownerReferences });
  }

  async #delete(node: Node, propagationPolicy: 'Foreground' | 'Background' | 'Orphan'): Promise<void> {
    const { resource, namespace, name, uid, resourceVersion } = node;
    const current = this.parts.graph.get(uid)?.resourceVersion ?? resourceVersion;
    try {
      const preconditions = { uid, resourceVersion: current };
      const existed = await this.parts.client.remove(resource, namespace, name, { propagationPolicy, preconditions });
      if (!existed) this.parts.graph.remove(uid);
    } catch (error) {
      if (!isConflict(error)) throw error;
      this.parts.requeue(uid);
    }
  }

  async #patchOrRequeue(node: Node, metadata: object): Promise<void> {
    if (!(await this.#patch(node, metadata))) this.parts.requeue(node.uid);
  }

  /** Patches metadata of an object. Resolves with false if the object has changed meanwhile. */
  async #patch({ resource, namespace, name, uid, resourceVersion }: Node, metadata: object): Promise<boolean> {
    try {
      const patch = { metadata: { uid, resourceVersion, ...metadata } };
      await this.parts.client.patch(resource, namespace, name, { type: 'merge', patch });
      return true;
    } catch (error) {
      if (isNotFound(error)) return true;
      if (isConflict(error)) return false;
      throw error;
    }
  }
}

function policyOf({ finalizers }: Node): 'Foreground' | 'Background' | 'Orphan' {
  if (finalizers.includes(orphanFinalizer)) return 'Orphan';
  return finalizers.includes(foregroundFinalizer) ? 'Foreground' : 'Background';
}

function objectOf({ apiVersion, kind, namespace, name, uid, resourceVersion }: Node): KubeObject {
  return { apiVersion, kind, metadata: { namespace, name, uid, resourceVersion } };
}
