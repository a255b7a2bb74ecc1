import type { Clock, Informer, KubeObject } from 'kubenest/sdk';

/** Costs of the objects of a namespace by name, and their sum. */
interface Costs {
  sum: number;
  readonly byName: Map<string, number>;
}

/** Milliseconds for which an admitted change counts, until the informer reports it. Those of requests that failed later end then. */
const reservedMs = 1_000;

interface Reservation {
  readonly cost: number;
  readonly until: number;
}

/**
 * Costs of the objects of one resource by namespace, kept by the events of an informer: a request neither lists nor parses objects. Changes
 * that were admitted and are not reported yet are reserved.
 */
export class NamespaceCosts implements Disposable {
  #namespaces = new Map<string, Costs>();
  /** Costs since an interruption of the informer, until it has sent all objects again. */
  #next: Map<string, Costs> | undefined;
  readonly #reserved = new Map<string, Map<string, Reservation>>();
  readonly #synced = Promise.withResolvers<void>();
  readonly #subscription: Disposable;
  /** True if the costs of all objects are known. */
  isSynced = false;

  constructor(
    informer: Informer,
    private readonly costOf: (object: KubeObject) => number,
    private readonly clock: Clock,
  ) {
    this.#subscription = informer.subscribe((type, object) => this.#changed(type, object), {
      restarted: () => {
        this.#next = new Map();
      },
      synced: () => {
        this.#namespaces = this.#next ?? this.#namespaces;
        this.#next = undefined;
        this.isSynced = true;
        this.#synced.resolve();
      },
    });
  }

  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  /** Returns the cost of a stored object; undefined if it is not known. */
  get(namespace: string, name: string): number | undefined {
    return this.#namespaces.get(namespace)?.byName.get(name);
  }

  /** Returns the cost of a namespace with its reservations. */
  sum(namespace: string): number {
    const reserved = this.#reserved.get(namespace);
    let sum = this.#namespaces.get(namespace)?.sum ?? 0;
    const now = this.clock.now();
    for (const [name, { cost, until }] of reserved ?? []) {
      if (until > now) sum += cost;
      else reserved?.delete(name);
    }
    return sum;
  }

  /** Adds up the costs of a namespace again: a sum that many events changed has rounding errors. */
  recount(namespace: string): void {
    const costs = this.#namespaces.get(namespace);
    if (!costs) return;
    costs.sum = 0;
    for (const cost of costs.byName.values()) costs.sum += cost;
  }

  reserve(namespace: string, name: string, cost: number): void {
    let reserved = this.#reserved.get(namespace);
    if (!reserved) this.#reserved.set(namespace, (reserved = new Map()));
    reserved.set(name, { cost, until: this.clock.now() + reservedMs });
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
  }

  #changed(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: KubeObject): void {
    const { namespace = '', name = '' } = object.metadata;
    const cost = type === 'DELETED' ? undefined : this.costOf(object);
    for (const namespaces of [this.#namespaces, this.#next]) if (namespaces) setCost(namespaces, namespace, name, cost);
    const reserved = this.#reserved.get(namespace);
    reserved?.delete(name);
    if (reserved?.size === 0) this.#reserved.delete(namespace);
  }
}

/** Sets the cost of an object; undefined removes it. */
function setCost(namespaces: Map<string, Costs>, namespace: string, name: string, cost: number | undefined): void {
  let costs = namespaces.get(namespace);
  if (!costs) {
    if (cost === undefined) return;
    namespaces.set(namespace, (costs = { sum: 0, byName: new Map() }));
  }
  costs.sum += (cost ?? 0) - (costs.byName.get(name) ?? 0);
  if (cost !== undefined) costs.byName.set(name, cost);
  else {
    costs.byName.delete(name);
    if (costs.byName.size === 0) namespaces.delete(namespace);
  }
}
