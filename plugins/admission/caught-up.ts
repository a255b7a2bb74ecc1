import type { Client, ClientTarget, Clock, Informer } from 'kubenest/sdk';

/** Time for which a namespace without objects is not looked up again. Upstream: the TTL of liveLookupCache. */
const lookupMs = 30_000;
/** Upstream: the size of liveLookupCache. */
const maxNamespaces = 10_000;

interface Lookup {
  readonly until: number;
  /** Undefined once the store was read. */
  reading: Promise<void> | undefined;
}

/**
 * Lets an informer catch up: one that has no object of a namespace may only lag behind the store, which a request that follows the creation
 * of the first object would notice. Upstream: the live lookups of the admission plugins LimitRanger and ResourceQuota.
 */
export class CaughtUp {
  /** The lookups of the last 30 seconds, oldest first. */
  readonly #lookups = new Map<string, Lookup>();

  constructor(
    private readonly informer: Informer,
    private readonly target: ClientTarget,
    private readonly client: Client,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns undefined if the informer has objects of the namespace, or a lookup of the last 30 seconds found none; else a promise that
   * resolves when the informer has what the store has. Rejects if the store cannot be read.
   */
  in(namespace: string): Promise<void> | undefined {
    if (this.informer.list(namespace).length > 0) return undefined;
    const last = this.#lookups.get(namespace);
    if (last && last.until > this.clock.now()) return last.reading;
    return this.#lookUp(namespace);
  }

  async #lookUp(namespace: string): Promise<void> {
    const now = this.clock.now();
    for (const [other, { until }] of this.#lookups) {
      if (until > now && this.#lookups.size < maxNamespaces) break;
      this.#lookups.delete(other);
    }
    const lookup: Lookup = { until: now + lookupMs, reading: undefined };
    this.#lookups.delete(namespace);
    this.#lookups.set(namespace, lookup);
    lookup.reading = this.client.list(this.target, namespace).then(
      () => {
        lookup.reading = undefined;
      },
      (error: unknown) => {
        this.#lookups.delete(namespace);
        throw error;
      },
    );
    return lookup.reading;
  }
}
