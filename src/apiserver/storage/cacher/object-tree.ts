import { memos } from '#apimachinery/runtime/memos';
import type { Buffer } from 'node:buffer';
import { concatKept } from '#apimachinery/runtime/kept-bytes';
import { atOnce, type Steps } from '#apimachinery/runtime/steps';
import { compareKeys, hasUncommonOrder, lowerBound } from '../key.ts';
import type { CachedObject } from './cached-object.ts';
import { noteDropped } from './dropped-bytes.ts';

const leafLimit = 128;
/** Maximum size of a leaf. Lists share whole leaves, and a change re-encodes one, so leaves of large objects hold fewer. */
const leafBytes = 512 * 1024;

/** Encodes one item of a list. */
export type MakeItem = (object: CachedObject) => Buffer;

/** A run of list items in order, immutable. */
export interface ListChunk {
  /** The tree that contains it; undefined if it was built for a single list, so that its encodings are not shared. */
  readonly owner: object | undefined;
  readonly items: readonly CachedObject[];
  /**
   * Returns all items, separated by `separator`, encoded at the first use of the variant and cached. `stamp` is an
   * additional cache key for anything else the bytes depend on (for ages, the current second); a different stamp re-encodes
   * them.
   */
  encoded(variant: string, makeItem: MakeItem, separator: Buffer, stamp?: number): Buffer;
  /** Returns the cached encoding of a variant, from `encoded` or `keep`. */
  kept(variant: string, stamp?: number): Buffer | undefined;
  /** Caches an encoding built by the caller. Returns it. */
  keep(variant: string, bytes: Buffer, stamp?: number): Buffer;
  /** Drops the cached encoding of a variant. */
  drop(variant: string): void;
  /** Total size of the items. Throws the failure of an unreadable item. */
  readonly bytes: number;
}

/** A cached encoding, dropped if no list used it between two sweeps. */
interface Encoding {
  readonly bytes: Buffer;
  readonly stamp: number;
  used: boolean;
}

/** A leaf of the tree. It is mutable only while its owner is the tree's; after that it is shared and immutable. */
export class Leaf implements ListChunk {
  #encodings: Map<string, Encoding> | undefined = undefined;
  #bytes: number | undefined = undefined;
  /** Parts of the leaf cut for lists of a namespace, by start and end. */
  #parts: Map<number, Leaf> | undefined = undefined;
  readonly owner: object | undefined;
  readonly items: CachedObject[];

  constructor(owner: object | undefined, items: CachedObject[]) {
    this.owner = owner;
    this.items = items;
  }

  encoded(variant: string, makeItem: MakeItem, separator: Buffer, stamp = 0): Buffer {
    return this.kept(variant, stamp) ?? this.keep(variant, atOnce(joinSteps(this.items, makeItem, separator)), stamp);
  }

  kept(variant: string, stamp = 0): Buffer | undefined {
    const encoding = memos.listRuns ? this.#encodings?.get(variant) : undefined;
    if (encoding?.stamp !== stamp) return undefined;
    encoding.used = true;
    return encoding.bytes;
  }

  keep(variant: string, bytes: Buffer, stamp = 0): Buffer {
    const encodings = (this.#encodings ??= new Map<string, Encoding>());
    encodings.set(variant, { bytes, stamp, used: true });
    return bytes;
  }

  drop(variant: string): void {
    const encoding = this.#encodings?.get(variant);
    if (!encoding) return;
    this.#encodings?.delete(variant);
    noteDropped(encoding.bytes.length);
  }

  get bytes(): number {
    return (this.#bytes ??= this.items.reduce((bytes, { readable }) => bytes + readable.size, 0));
  }

  part(start: number, end: number): Leaf {
    if (start === 0 && end === this.items.length) return this;
    const parts = (this.#parts ??= new Map<number, Leaf>());
    const id = start * (leafLimit + 1) + end;
    let part = parts.get(id);
    if (!part) {
      part = new Leaf(undefined, this.items.slice(start, end));
      parts.set(id, part);
    }
    return part;
  }

  /** Drops everything derived from the items; called before each change of them. */
  forget(): void {
    this.#encodings = undefined;
    this.#bytes = undefined;
    this.#parts = undefined;
  }

  /** Drops the encodings that were unused since the last sweep. */
  sweep(): void {
    for (const [variant, encoding] of this.#encodings ?? []) {
      if (!encoding.used) this.drop(variant);
      encoding.used = false;
    }
    for (const [id, part] of this.#parts ?? []) {
      part.sweep();
      if (!part.#encodings?.size) this.#parts?.delete(id);
    }
  }
}

interface LeafOptions {
  /** Number of objects of a leaf at most. */
  readonly most?: number;
  readonly mostBytes?: number;
  /** Default: the leaves are built for a single list. */
  readonly owner?: object | undefined;
}

/** Builds sorted leaves of at most `most` objects and at most `mostBytes`, unless a single object is larger. */
export function leavesOf(objects: readonly CachedObject[], { most = leafLimit, mostBytes = leafBytes, owner }: LeafOptions = {}): Leaf[] {
  const leaves: Leaf[] = [];
  for (let i = 0; i < objects.length; ) {
    const first = i;
    for (let bytes = 0; i < objects.length && i - first < most; i++) {
      bytes += objects[i]!.size;
      if (bytes > mostBytes && i > first) break;
    }
    leaves.push(new Leaf(owner, objects.slice(first, i)));
  }
  return leaves;
}

/** Joins all items with the separator, yielding after each item. `prepare` runs before each item is encoded. */
export function* joinSteps(
  items: readonly CachedObject[],
  makeItem: MakeItem,
  separator: Buffer,
  concat = concatKept,
  prepare?: (object: CachedObject) => Steps<void>,
): Steps<Buffer> {
  const buffers: Buffer[] = [];
  for (const item of items) {
    if (prepare) yield* prepare(item);
    if (buffers.length > 0) buffers.push(separator);
    buffers.push(makeItem(item));
    yield;
  }
  return concat(buffers);
}

/** All objects at one revision, sorted by key. It shares leaves with the tree and with other snapshots. */
export class Snapshot {
  readonly #leaves: readonly Leaf[];
  readonly #uncommon: boolean;
  readonly size: number;

  constructor(leaves: readonly Leaf[], uncommon: boolean, size: number) {
    this.#leaves = leaves;
    this.#uncommon = uncommon;
    this.size = size;
  }

  get leaves(): readonly Leaf[] {
    return this.#leaves;
  }

  /** Returns the objects under the prefix whose keys are not less than `from`. */
  chunks(prefix: string, from = prefix): Leaf[] {
    const chunks: Leaf[] = [];
    const start = compareKeys(from, prefix) > 0 ? from : prefix;
    for (let at = leafOf(this.#leaves, start, this.#uncommon); at < this.#leaves.length; at++) {
      const leaf = this.#leaves[at]!;
      const { items } = leaf;
      const first = chunks.length > 0 ? 0 : lowerBound(items, start, this.#uncommon);
      if (first === items.length) continue;
      if (!items[first]!.key.startsWith(prefix)) break;
      const isWhole = items.at(-1)!.key.startsWith(prefix);
      const end = isWhole ? items.length : endOfPrefix(items, first, prefix);
      chunks.push(leaf.part(first, end));
      if (!isWhole) break;
    }
    return chunks;
  }

  get(key: string): CachedObject | undefined {
    const items = this.#leaves[leafOf(this.#leaves, key, this.#uncommon)]?.items ?? [];
    const object = items[lowerBound(items, key, this.#uncommon)];
    return object?.key === key ? object : undefined;
  }

  /** Returns an independent tree with these objects. */
  fork(): ObjectTree {
    return new ObjectTree(this.#leaves, this.#uncommon, this.size);
  }
}

/** Returns the index after the last item with the prefix. Items with the prefix are contiguous, and `first` is one of them. */
function endOfPrefix(items: readonly CachedObject[], first: number, prefix: string): number {
  let low = first + 1;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (items[middle]!.key.startsWith(prefix)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the index of the last leaf whose first key is not greater than `key`; 0 if there is none. */
function leafOf(leaves: readonly Leaf[], key: string, uncommon: boolean): number {
  let low = 0;
  let high = leaves.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const first = leaves[middle]!.items[0]!.key;
    if (uncommon ? compareKeys(first, key) <= 0 : first <= key) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}

/**
 * A sorted map of objects, ordered by the UTF-8 bytes of their keys: an array of leaves, each a non-empty array of at most
 * 128 objects and at most 512 KiB unless a single object is larger. A snapshot is free: it shares the arrays, and the tree
 * copies an array before it next modifies it.
 *
 * Worked example with leaves of at most two objects: [a b][c d], snapshot s, then put c2: the tree is [a b]'[c2 d] with a
 * new outer array and a new second leaf; s still has [a b][c d], and both share the first leaf with its encodings.
 */
export class ObjectTree {
  #leaves: Leaf[];
  #uncommon: boolean;
  #size: number;
  /** Owner mark: leaves with this owner are in no snapshot. */
  #owner: object = {};
  #ownsArray = false;
  #snapshot: Snapshot | undefined;

  constructor(leaves: readonly Leaf[] = [], uncommon = false, size = 0) {
    this.#leaves = leaves as Leaf[];
    this.#uncommon = uncommon;
    this.#size = size;
  }

  /** Builds a tree. `sorted` must be in the order of `compareKeys`, without duplicate keys. */
  static from(sorted: readonly CachedObject[]): ObjectTree {
    return new ObjectTree(
      // The lists share them, though the tree copies them before it changes them.
      leavesOf(sorted, { most: leafLimit * 0.75, owner: {} }),
      sorted.some((object) => hasUncommonOrder(object.key)),
      sorted.length,
    );
  }

  get size(): number {
    return this.#size;
  }

  set(object: CachedObject): void {
    const { key } = object;
    this.#uncommon ||= hasUncommonOrder(key);
    this.#ownArray();
    if (this.#leaves.length === 0) {
      this.#leaves.push(new Leaf(this.#owner, [object]));
      this.#size++;
      return;
    }
    const at = leafOf(this.#leaves, key, this.#uncommon);
    const leaf = this.#ownLeaf(at);
    const i = lowerBound(leaf.items, key, this.#uncommon);
    if (leaf.items[i]?.key === key) leaf.items[i] = object;
    else {
      leaf.items.splice(i, 0, object);
      this.#size++;
    }
    // Keys inserted in ascending order leave full leaves behind; other inserts split in the middle.
    const isLast = i === leaf.items.length - 1 && at === this.#leaves.length - 1;
    if (leaf.items.length > leafLimit) this.#split(at, isLast ? leafLimit * 0.75 : leafLimit / 2);
    this.#splitLarge(at, isLast ? i : undefined);
  }

  #splitLarge(at: number, cut?: number): void {
    const { items } = this.#leaves[at]!;
    if (items.length < 2 || sizeOf(items) <= leafBytes) return;
    this.#split(at, cut || middleOf(items));
    this.#splitLarge(at + 1);
    this.#splitLarge(at);
  }

  #split(at: number, cut: number): void {
    this.#leaves.splice(at + 1, 0, new Leaf(this.#owner, this.#leaves[at]!.items.splice(cut)));
  }

  delete(key: string): void {
    if (this.#leaves.length === 0) return;
    const at = leafOf(this.#leaves, key, this.#uncommon);
    const i = lowerBound(this.#leaves[at]!.items, key, this.#uncommon);
    if (this.#leaves[at]!.items[i]?.key !== key) return;
    this.#ownArray();
    const leaf = this.#ownLeaf(at);
    leaf.items.splice(i, 1);
    this.#size--;
    if (leaf.items.length === 0) this.#leaves.splice(at, 1);
    else if (leaf.items.length < leafLimit / 8) this.#merge(at);
  }

  snapshot(): Snapshot {
    if (!this.#snapshot) {
      this.#owner = {};
      this.#ownsArray = false;
      this.#snapshot = new Snapshot(this.#leaves, this.#uncommon, this.#size);
    }
    return this.#snapshot;
  }

  /** Drops encodings that were unused since the last sweep. */
  sweep(): void {
    for (const leaf of this.#leaves) leaf.sweep();
  }

  #ownArray(): void {
    this.#snapshot = undefined;
    if (this.#ownsArray) return;
    this.#leaves = this.#leaves.slice();
    this.#ownsArray = true;
  }

  #ownLeaf(at: number): Leaf {
    const leaf = this.#leaves[at]!;
    if (leaf.owner === this.#owner) {
      leaf.forget();
      return leaf;
    }
    return (this.#leaves[at] = new Leaf(this.#owner, leaf.items.slice()));
  }

  /** Merges a small leaf with the next one if both fit. */
  #merge(at: number): void {
    const left = at + 1 < this.#leaves.length ? at : at - 1;
    const a = this.#leaves[left];
    const b = this.#leaves[left + 1];
    if (!a || !b || a.items.length + b.items.length > leafLimit / 2) return;
    const items = [...a.items, ...b.items];
    if (sizeOf(items) <= leafBytes / 2) this.#leaves.splice(left, 2, new Leaf(this.#owner, items));
  }
}

function sizeOf(items: readonly CachedObject[]): number {
  let bytes = 0;
  for (const item of items) bytes += item.size;
  return bytes;
}

/** Returns the index at which two or more items are split into non-empty halves of about the same size in bytes. */
function middleOf(items: readonly CachedObject[]): number {
  const half = sizeOf(items) / 2;
  let at = 0;
  for (let bytes = 0; bytes < half; at++) bytes += items[at]!.size;
  return Math.min(at, items.length - 1);
}
