/** Sizes of a cluster. They overlap, so that a cluster at a boundary keeps its size. Upstream: ttlBoundaries of pkg/controller/ttl. */
const sizes = [
  { min: 0, max: 100, ttlSeconds: 0 },
  { min: 90, max: 500, ttlSeconds: 15 },
  { min: 450, max: 1_000, ttlSeconds: 30 },
  { min: 900, max: 2_000, ttlSeconds: 60 },
  { min: 1_800, max: Infinity, ttlSeconds: 300 },
] as const;

/** The size of a cluster, which changes when the number of nodes leaves its range. */
export class ClusterSize {
  #step = 0;

  /** Returns the time for which kubelets of a cluster with so many nodes keep objects. */
  ttlSeconds(nodes: number): number {
    while (nodes > this.#size.max) this.#step += 1;
    while (nodes < this.#size.min) this.#step -= 1;
    return this.#size.ttlSeconds;
  }

  get #size(): (typeof sizes)[number] {
    return sizes[this.#step] ?? sizes[0];
  }
}
