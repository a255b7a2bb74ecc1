import type { RequestInfo } from '#apiserver/request/request-info';

/**
 * Counts the watches that a write notifies, by resource, namespace and name. Upstream:
 * apiserver/pkg/util/flowcontrol/watch_tracker.go.
 */
export class WatchTracker {
  readonly #watches = new Map<string, number>();

  /** Counts a watch. Returns the function that removes it. */
  register({ apiGroup, resource, namespace, name }: RequestInfo): () => void {
    const key = `${apiGroup}/${resource}/${namespace}/${name}`;
    this.#watches.set(key, (this.#watches.get(key) ?? 0) + 1);
    return () => {
      const left = (this.#watches.get(key) ?? 0) - 1;
      if (left > 0) this.#watches.set(key, left);
      else this.#watches.delete(key);
    };
  }

  /** Returns the number of watches of all objects, of the namespace, and of the object. */
  interested({ apiGroup, resource, namespace, name }: RequestInfo): number {
    if (this.#watches.size === 0) return 0;
    const base = `${apiGroup}/${resource}`;
    const count = (key: string): number => this.#watches.get(key) ?? 0;
    let sum = count(`${base}//`);
    if (namespace !== '') sum += count(`${base}/${namespace}/`);
    if (name !== '') sum += count(`${base}//${name}`);
    if (namespace !== '' && name !== '') sum += count(`${base}/${namespace}/${name}`);
    return sum;
  }
}
