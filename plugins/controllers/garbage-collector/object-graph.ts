import type { KubeObject, OwnerReference, ServedResource } from 'kubenest/sdk';

export const orphanFinalizer = 'orphan';
export const foregroundFinalizer = 'foregroundDeletion';

/** An object as the garbage collector knows it. */
export interface Node {
  readonly resource: ServedResource;
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly owners: readonly OwnerReference[];
  readonly finalizers: readonly string[];
  readonly isBeingDeleted: boolean;
}

/** True if the object waits for the deletion of its dependents. */
export function isDeletingDependents({ isBeingDeleted, finalizers }: Node): boolean {
  return isBeingDeleted && finalizers.includes(foregroundFinalizer);
}

/** True if the object waits until its dependents are detached. */
export function isOrphaning({ isBeingDeleted, finalizers }: Node): boolean {
  return isBeingDeleted && finalizers.includes(orphanFinalizer);
}

/** True if a known object is the one that a reference of `dependent` means. */
export function isOwner(owner: Node, { apiVersion, kind, name }: OwnerReference, dependent: Node): boolean {
  const isSameKind = owner.kind === kind && groupOf(owner.apiVersion) === groupOf(apiVersion);
  return isSameKind && owner.name === name && (!owner.resource.namespaced || owner.namespace === dependent.namespace);
}

/** Returns the group of an apiVersion. */
export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? '' : apiVersion.slice(0, slash);
}

/** The consequences of a change, as nodes to process. */
export interface GraphChange {
  /** Nodes that may have to be deleted, or whose deletion may continue. */
  readonly toDelete: readonly Node[];
  /** Nodes whose dependents have to be detached. */
  readonly toOrphan: readonly Node[];
}

const unchanged: GraphChange = { toDelete: [], toOrphan: [] };
/** Number of uids of deleted objects that are remembered. */
const maxAbsent = 10_000;

/** The objects of the cluster with their owners. Upstream: pkg/controller/garbagecollector/graph_builder.go. */
export class ObjectGraph {
  readonly #nodes = new Map<string, Node>();
  /** Nodes by the uid of each owner, whether or not the owner exists. */
  readonly #dependents = new Map<string, Map<string, Node>>();
  readonly #absent = new Set<string>();

  get size(): number {
    return this.#nodes.size;
  }

  get(uid: string): Node | undefined {
    return this.#nodes.get(uid);
  }

  dependentsOf(uid: string): Node[] {
    return [...(this.#dependents.get(uid)?.values() ?? [])];
  }

  /** Returns the dependents that block the deletion of their owner in the foreground. */
  blockingDependentsOf(uid: string): Node[] {
    return this.dependentsOf(uid).filter(({ owners }) => owners.some((owner) => owner.uid === uid && owner.blockOwnerDeletion));
  }

  /** True if the object with this uid is known to be gone. */
  isAbsent(uid: string): boolean {
    return this.#absent.has(uid);
  }

  markAbsent(uid: string): void {
    this.#absent.add(uid);
    if (this.#absent.size > maxAbsent) this.#absent.delete(this.#absent.values().next().value as string);
  }

  /** Records the state of an object, new or changed. */
  put(object: KubeObject, resource: ServedResource): GraphChange {
    const node = nodeOf(object, resource);
    const old = this.#nodes.get(node.uid);
    this.#nodes.set(node.uid, node);
    for (const owner of old?.owners ?? []) this.#unlink(owner.uid, node.uid);
    for (const owner of node.owners) this.#link(owner.uid, node);
    const toDelete = new Set<Node>();
    if (this.#mayBeGarbage(node, old)) toDelete.add(node);
    for (const owner of this.#unblockedOwners(node, old)) toDelete.add(owner);
    if (isDeletingDependents(node) && !(old && isDeletingDependents(old))) {
      toDelete.add(node);
      for (const dependent of this.dependentsOf(node.uid)) toDelete.add(dependent);
    }
    const toOrphan = isOrphaning(node) && !(old && isOrphaning(old)) ? [node] : [];
    return { toDelete: [...toDelete], toOrphan };
  }

  /** Removes an object that was deleted. */
  remove(uid: string): GraphChange {
    const node = this.#nodes.get(uid);
    this.markAbsent(uid);
    if (!node) return unchanged;
    this.forget(uid);
    const waiting = node.owners.map((owner) => this.#nodes.get(owner.uid)).filter((owner) => owner && isDeletingDependents(owner));
    return { toDelete: [...this.dependentsOf(uid), ...(waiting as Node[])], toOrphan: [] };
  }

  /** Returns the objects of a resource. */
  ofResource({ group, resource }: Pick<ServedResource, 'group' | 'resource'>): Node[] {
    return [...this.#nodes.values()].filter((node) => node.resource.group === group && node.resource.resource === resource);
  }

  /** Returns the objects with an owner that is unknown, which may have been deleted unnoticed. */
  withUnknownOwners(): Node[] {
    return [...this.#nodes.values()].filter(({ owners }) => owners.some(({ uid }) => !this.#nodes.has(uid)));
  }

  /** Removes an object whose state is unknown. */
  forget(uid: string): void {
    for (const owner of this.#nodes.get(uid)?.owners ?? []) this.#unlink(owner.uid, uid);
    this.#nodes.delete(uid);
  }

  /** True if the node has a new owner that is unknown, is not the object that the reference names, or waits for its dependents. */
  #mayBeGarbage(node: Node, old: Node | undefined): boolean {
    const before = new Set(old?.owners.map(({ uid }) => uid));
    return node.owners.some((reference) => {
      const owner = this.#nodes.get(reference.uid);
      return !before.has(reference.uid) && (!owner || !isOwner(owner, reference, node) || isDeletingDependents(owner));
    });
  }

  /** Returns the owners that wait for their dependents and that the node no longer blocks. */
  #unblockedOwners(node: Node, old: Node | undefined): Node[] {
    const blocks = (of: Node, uid: string): boolean => of.owners.some((owner) => owner.uid === uid && owner.blockOwnerDeletion);
    return (old?.owners ?? [])
      .filter(({ uid }) => old && blocks(old, uid) && !blocks(node, uid))
      .map(({ uid }) => this.#nodes.get(uid))
      .filter((owner): owner is Node => owner !== undefined && isDeletingDependents(owner));
  }

  #link(owner: string, node: Node): void {
    const dependents = this.#dependents.get(owner);
    if (dependents) dependents.set(node.uid, node);
    else this.#dependents.set(owner, new Map([[node.uid, node]]));
  }

  #unlink(owner: string, uid: string): void {
    const dependents = this.#dependents.get(owner);
    dependents?.delete(uid);
    if (dependents?.size === 0) this.#dependents.delete(owner);
  }
}

function nodeOf({ apiVersion, kind, metadata }: KubeObject, resource: ServedResource): Node {
  return {
    resource,
    apiVersion,
    kind,
    namespace: metadata.namespace ?? '',
    name: metadata.name as string,
    uid: metadata.uid as string,
    resourceVersion: metadata.resourceVersion as string,
    owners: metadata.ownerReferences ?? [],
    finalizers: metadata.finalizers ?? [],
    isBeingDeleted: metadata.deletionTimestamp !== undefined,
  };
}
