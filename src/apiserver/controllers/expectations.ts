import type { Clock } from '#apiserver/base/clock';

const expiryMs = 5 * 60_000;

interface Expected {
  creations: number;
  /** Keys of the objects whose deletion is expected. */
  readonly deletions: Set<string>;
  readonly since: number;
}

/**
 * Writes of a controller that its informers have not reported yet. A controller that counts objects waits until they are fulfilled, because
 * it would create or delete too many otherwise. Keys are those of the reconciled objects. Upstream: pkg/controller/controller_utils.go.
 */
export class Expectations {
  readonly #expected = new Map<string, Expected>();

  constructor(readonly clock: Clock) {}

  expectCreations(key: string, count: number): void {
    this.#entry(key).creations += count;
  }

  expectDeletions(key: string, objects: Iterable<string>): void {
    const { deletions } = this.#entry(key);
    for (const object of objects) deletions.add(object);
  }

  /** An informer reported a new object, or its creation failed. */
  created(key: string): void {
    const expected = this.#expected.get(key);
    if (expected && expected.creations > 0) expected.creations -= 1;
  }

  /** An informer reported the deletion of an object, or its deletion failed. */
  deleted(key: string, object: string): void {
    this.#expected.get(key)?.deletions.delete(object);
  }

  /** True if nothing is expected for the key, or for five minutes in vain. */
  satisfied(key: string): boolean {
    const expected = this.#expected.get(key);
    if (!expected) return true;
    const isFulfilled = expected.creations <= 0 && expected.deletions.size === 0;
    if (!isFulfilled && this.clock.now() - expected.since < expiryMs) return false;
    this.#expected.delete(key);
    return true;
  }

  /** Forgets an object that no longer exists. */
  forget(key: string): void {
    this.#expected.delete(key);
  }

  #entry(key: string): Expected {
    let expected = this.#expected.get(key);
    if (!expected) {
      expected = { creations: 0, deletions: new Set(), since: this.clock.now() };
      this.#expected.set(key, expected);
    }
    return expected;
  }
}
