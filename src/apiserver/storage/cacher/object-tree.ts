import { memos } from '#apimachinery/runtime/memos';
import type { Buffer } from 'node:buffer';
import { concatKept } from '#apimachinery/runtime/kept-bytes';
import { atOnce, type Steps } from '#apimachinery/runtime/steps';
import { compareKeys, hasUncommonOrder, lowerBound } from '../key.ts';
import type { CachedObject } from './cached-object.ts';
import { noteDropped } from './dropped-bytes.ts';

const leafLimit = 128;
/** What lists share is whole leaves, and a change makes the bytes of one anew: leaves of large objects have fewer. */
const leafBytes = 512 * 1024;

/** Makes the bytes of one item of a list. */
export type MakeItem = (object: CachedObject) => Buffer;

/** A run of list items in order. Nothing of it changes any more. */
export interface ListChunk {
  /** The tree that it is of; undefined where it was made for one list, and no other shares its encodings. */
  readonly owner: object | undefined;
  readonly items: readonly CachedObject[];
  /**
   * All items with the separator between them (none at the ends), made at the first use of the variant and kept for the
   * next. `stamp`: of what the bytes depend on besides the items (the second that ages are told at); another makes them anew.
   */
  encoded(variant: string, makeItem: MakeItem, separator: Buffer, stamp?: number): Buffer;
  /** What is kept of a variant: of `encoded`, or */
  kept(variant: string, stamp?: number): Buffer | undefined;
  /** what others have made of it. Returns the bytes. */
  keep(variant: string, bytes: Buffer, stamp?: number): Buffer;
  /** Lets go of what is kept. */
  drop(variant: string): void;
  /** The bytes of all items. Throws why one of them cannot be used. */
  readonly bytes: number;
}

/** Encodings that no list has used between two sweeps are dropped. */
interface Encoding {
  readonly bytes: Buffer;
  readonly stamp: number;
  used: boolean;
}

/** One leaf. It may be changed only while its owner is the tree's; after that it is shared and stays as it is. */
export class Leaf implements ListChunk {
  #encodings: Map<string, Encoding> | undefined = undefined;
  #bytes: number | undefined = undefined;
  /** Parts of it that lists of a namespace have cut, by start and end. */
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

  /** To be called before each change of the items. */
  forget(): void {
    this.#encodings = undefined;
    this.#bytes = undefined;
    this.#parts = undefined;
  }

  /** Drops the encodings that were not used since the last sweep. */
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

/** Leaves of at most so many objects, in their order, and of at most 512 KiB unless it is one object that has more. */
export function leavesOf(objects: readonly CachedObject[], most = leafLimit): Leaf[] {
  const leaves: Leaf[] = [];
  for (let i = 0; i < objects.length; ) {
    const first = i;
    for (let bytes = 0; i < objects.length && i - first < most; i++) {
      bytes += objects[i]!.size;
      if (bytes > leafBytes && i > first) break;
    }
    leaves.push(new Leaf(undefined, objects.slice(first, i)));
  }
  return leaves;
}

/** The bytes of all items with the separator between them, one item a step. `prepare`: what is done for each before. */
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

/** All objects at one revision, in the order of their keys. It shares its leaves with the tree and with other snapshots. */
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

  /** The objects under the prefix whose keys are not before `from`. */
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

  /** A tree of its own that begins with these objects. */
  fork(): ObjectTree {
    return new ObjectTree(this.#leaves, this.#uncommon, this.size);
  }
}

/** The items with the prefix stand together: the index after the last, known that `first` is one. */
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

/** The last leaf whose first key is not after `key`; 0 if there is none. */
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
 * Objects in the order of their keys' UTF-8 bytes: an array of leaves, each an array of at most 128 objects, none empty, and
 * of at most 512 KiB unless it is one object that has more.
 * A snapshot costs nothing: it takes the arrays as they are, and the tree copies an array before it next changes it.
 *
 * Worked example, leaves of at most two: [a b][c d], snapshot s, then put c2: the tree is [a b]'[c2 d] with a new outer
 * array and a new second leaf; s still has [a b][c d], and both share the first leaf with all that was encoded of it.
 */
export class ObjectTree {
  #leaves: Leaf[];
  #uncommon: boolean;
  #size: number;
  /** Leaves with this owner are in no snapshot. */
  #owner: object = {};
  #ownsArray = false;
  #snapshot: Snapshot | undefined;

  constructor(leaves: readonly Leaf[] = [], uncommon = false, size = 0) {
    this.#leaves = leaves as Leaf[];
    this.#uncommon = uncommon;
    this.#size = size;
  }

  /** `sorted`: in the order of `compareKeys`, each key once. */
  static from(sorted: readonly CachedObject[]): ObjectTree {
    return new ObjectTree(
      leavesOf(sorted, leafLimit * 0.75),
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
    // Keys that come in order leave full leaves behind them; others split in the middle.
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

  /** Drops encodings that have not been used since the last sweep. */
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

  /** Joins a small leaf with the next if both fit. */
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

/** Where two or more items are cut so that both parts have some, and about half of the bytes. */
function middleOf(items: readonly CachedObject[]): number {
  const half = sizeOf(items) / 2;
  let at = 0;
  for (let bytes = 0; bytes < half; at++) bytes += items[at]!.size;
  return Math.min(at, items.length - 1);
}
