import { compareKeys, lowerBound, type Revision } from 'kubenest/sdk';
import { hasUncommonOrder } from '#sdk/internal';

/** The in-memory state of a key, without its value. */
export interface IndexEntry<Pending> {
  readonly key: string;
  /** The newest acknowledged revision; 0 during the first write of the key. */
  revision: Revision;
  createRevision: Revision;
  /**
   * True if the newest row is a deletion. The entry stays until the deletion is compacted, because past states are found
   * through it.
   */
  deleted: boolean;
  /** The pending write; no other write of this key is decided before it is settled. */
  pending: Pending | undefined;
}

const leafSize = 512;

/** Keys sorted by their UTF-8 bytes, in leaves of at most 512. */
export class KeyIndex<Pending> {
  readonly #leaves: IndexEntry<Pending>[][] = [];
  #uncommon = false;

  /** `entries` may be in any order, without duplicate keys. */
  constructor(entries: Iterable<IndexEntry<Pending>> = []) {
    const sorted = [...entries];
    this.#uncommon = sorted.some((entry) => hasUncommonOrder(entry.key));
    sorted.sort((a, b) => (this.#uncommon ? compareKeys(a.key, b.key) : a.key < b.key ? -1 : 1));
    for (let i = 0; i < sorted.length; i += leafSize / 2) this.#leaves.push(sorted.slice(i, i + leafSize / 2));
  }

  get(key: string): IndexEntry<Pending> | undefined {
    const leaf = this.#leaves[this.#leafOf(key)];
    if (!leaf) return undefined;
    const entry = leaf[lowerBound(leaf, key, this.#uncommon)];
    return entry?.key === key ? entry : undefined;
  }

  /** Adds an entry for a new key. */
  add(entry: IndexEntry<Pending>): void {
    this.#uncommon ||= hasUncommonOrder(entry.key);
    const at = this.#leafOf(entry.key);
    const leaf = this.#leaves[at];
    if (!leaf) {
      this.#leaves.push([entry]);
      return;
    }
    leaf.splice(lowerBound(leaf, entry.key, this.#uncommon), 0, entry);
    if (leaf.length > leafSize) this.#leaves.splice(at + 1, 0, leaf.splice(leafSize / 2));
  }

  remove(key: string): void {
    const at = this.#leafOf(key);
    const leaf = this.#leaves[at];
    if (!leaf) return;
    const i = lowerBound(leaf, key, this.#uncommon);
    if (leaf[i]?.key !== key) return;
    leaf.splice(i, 1);
    if (leaf.length === 0) this.#leaves.splice(at, 1);
  }

  /** Yields the entries under `prefix` from `from` on, sorted. The index must not change during the iteration. */
  *range(prefix: string, from: string): Generator<IndexEntry<Pending>> {
    const start = compareKeys(from, prefix) > 0 ? from : prefix;
    for (let at = this.#leafOf(start); at < this.#leaves.length; at++) {
      const leaf = this.#leaves[at]!;
      for (let i = lowerBound(leaf, start, this.#uncommon); i < leaf.length; i++) {
        const entry = leaf[i]!;
        if (!entry.key.startsWith(prefix)) return;
        yield entry;
      }
    }
  }

  /** Returns the index of the last leaf whose first key is not greater than the key. */
  #leafOf(key: string): number {
    let low = 0;
    let high = this.#leaves.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const first = this.#leaves[middle]![0]!.key;
      if (this.#uncommon ? compareKeys(first, key) <= 0 : first <= key) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }
}
