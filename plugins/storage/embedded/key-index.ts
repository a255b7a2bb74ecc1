import { compareKeys, hasUncommonOrder, lowerBound, type Revision } from 'kubenest/sdk';

/** What is known of a key in memory: all but its value. */
export interface IndexEntry<Pending> {
  readonly key: string;
  /** The newest acknowledged revision; 0 while the first write of the key is under way. */
  revision: Revision;
  createRevision: Revision;
  /** The newest row is a deletion; it stays until it is compacted, because old states are found from it. */
  deleted: boolean;
  /** The write that is under way: until it is settled, no other of this key is decided. */
  pending: Pending | undefined;
}

const leafSize = 512;

/** Keys in the order of their UTF-8 bytes, in leaves of at most 512. */
export class KeyIndex<Pending> {
  readonly #leaves: IndexEntry<Pending>[][] = [];
  #uncommon = false;

  /** `entries`: in any order, each key once. */
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

  /** The key must not be there. */
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

  /** Entries whose keys begin with `prefix` and are not before `from`, in order. Not to be changed meanwhile. */
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

  /** The last leaf that begins at the key or before it. */
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
