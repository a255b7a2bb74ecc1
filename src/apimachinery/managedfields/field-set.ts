import type { FieldsV1 } from '#apimachinery/meta/types';
import { isEmptyObject } from '#apimachinery/patch/own-property';
import { atOnce, type Steps } from '#apimachinery/runtime/steps';
import { keysOf, noteKeys, notedKeys } from '#apimachinery/runtime/wide-objects';
import {
  comparePathElements,
  type FieldPath,
  type PathElement,
  parsePathElement,
  sortedElementsSteps,
  sortPathElements,
} from './path-element.ts';

/**
 * A node of a set: the tree of FieldsV1 itself. Worked example: `{"f:data":{".":{},"f:a":{}}}` contains the paths `.data` and `.data.a`;
 * without the `.` it would contain only `.data.a`.
 *
 * Invariants: the path elements of a node are sorted by `comparePathElements`, `.` first; nodes are never changed once they belong to a
 * set, so sets share them; a node below the root without keys is a member without children. Keys start with a letter and a colon (or are
 * `.`), so none of them collides with a property of Object.prototype.
 */
type Node = FieldsV1;

/** A member without children. */
export const leaf: FieldsV1 = Object.freeze({});

/** Maximum depth; Kubernetes objects have about 15 levels. */
const maxDepth = 500;

export class FieldSetError extends Error {
  override readonly name = 'FieldSetError';
}

/** Number of elements between two yields. */
const stepElements = 1_024;

/** True if the path of this node (not the root) is in the set. */
function isMember(node: Node): boolean {
  return node === leaf || node['.'] !== undefined || isEmptyObject(node);
}

/** True if a node has descendants in the set. */
export function hasChildren(node: Node): boolean {
  if (node === leaf) return false;
  const elements = notedKeys(node);
  if (elements) return elements.some((element) => element !== '.');
  for (const key in node) if (key !== '.') return true;
  return false;
}

/** Returns a child of a node. For a wide node, an own-property check avoids the lookup in the prototypes, which takes ten times as long. */
function childOf(node: Node, isWide: boolean, element: PathElement): Node | undefined {
  return isWide && !Object.hasOwn(node, element) ? undefined : node[element];
}

const isWide = (node: Node): boolean => notedKeys(node) !== undefined;

const fewElements = 8;

/** Returns the keys of a small node; undefined for others, whose full key list would be too slow for thousands of managers. */
function fewKeys(node: Node): readonly string[] | undefined {
  if (isWide(node)) return undefined;
  const keys: string[] = [];
  for (const key in node) {
    if (keys.length === fewElements) return undefined;
    keys.push(key);
  }
  return keys;
}

/** Returns a node with these parts; undefined if it is empty. `children` does not contain `.`. */
function* join(member: boolean, children: Node): Steps<Node | undefined> {
  if (!hasChildren(children)) return member ? leaf : undefined;
  return member ? yield* withMembership(true, children) : children;
}

/** Like `join`, but returns the node itself if the result is equal. */
function* joinRest(member: boolean, rest: Node): Steps<Node | undefined> {
  if ((rest['.'] !== undefined) === member && hasChildren(rest)) return rest;
  return yield* join(member, rest['.'] === undefined ? rest : yield* withMembership(false, rest));
}

/** Returns the children of a node with the given membership of its path. */
export function* withMembership(member: boolean, node: Node): Steps<Node> {
  const out = new NewNode();
  if (member) out.add('.', leaf);
  for (const element of keysOf(node)) {
    if (out.size % stepElements === stepElements - 1) yield;
    if (element !== '.') out.add(element, node[element]!);
  }
  return out.done();
}

/** Builder of a node. */
class NewNode {
  readonly #node: Node = {};
  /** Elements of a node that may become wide. */
  #elements: PathElement[] | undefined;
  size = 0;

  /** Adds a child. Elements must be added in order, each once. */
  add(element: PathElement, child: Node): void {
    if (this.size === stepElements) this.#elements = Object.keys(this.#node);
    this.#node[element] = child;
    this.#elements?.push(element);
    this.size += 1;
  }

  done(): Node {
    return this.#elements ? noteKeys(this.#node, this.#elements) : this.#node;
  }
}

/** An immutable set of field paths. structured-merge-diff/fieldpath/set.go. */
export class FieldSet {
  static readonly empty = new FieldSet({});

  private constructor(private readonly root: Node) {}

  /** Returns a set for canonical FieldsV1: created by this module, or stored by it. undefined is the empty set. */
  static fromCanonical(fields: FieldsV1 | undefined): FieldSet {
    return fields === undefined || isEmptyObject(fields)
      ? FieldSet.empty
      : new FieldSet(fields['.'] === undefined ? fields : childrenOf(fields));
  }

  /** Returns a set for any FieldsV1: sorted, with canonical elements and without unknown kinds. Throws FieldSetError. */
  static fromFieldsV1(fields: unknown): FieldSet {
    return atOnce(FieldSet.fromFieldsV1Steps(fields));
  }

  /** Like `fromFieldsV1`, but yields to the event loop. */
  static *fromFieldsV1Steps(fields: unknown): Steps<FieldSet> {
    return FieldSet.fromCanonical(yield* canonicalNode(fields, 0));
  }

  static of(...paths: FieldPath[]): FieldSet {
    let root: Node = {};
    for (const path of paths) if (path.length > 0) root = withPath(root, path, 0);
    return FieldSet.fromCanonical(root);
  }

  /** Returns the tree, which must not be changed. */
  toFieldsV1(): FieldsV1 {
    return this.root;
  }

  get isEmpty(): boolean {
    return isEmptyObject(this.root);
  }

  /** Number of paths. */
  get size(): number {
    let size = 0;
    for (const _ of this) size++;
    return size;
  }

  has(path: FieldPath): boolean {
    if (path.length === 0) return false;
    let node = this.root;
    for (const element of path) {
      const next = node[element];
      if (next === undefined) return false;
      node = next;
    }
    return isMember(node);
  }

  insert(path: FieldPath): FieldSet {
    return path.length === 0 || this.has(path) ? this : new FieldSet(withPath(this.root, path, 0));
  }

  union(other: FieldSet): FieldSet {
    return atOnce(this.unionSteps(other));
  }

  *unionSteps(other: FieldSet): Steps<FieldSet> {
    if (other.isEmpty || other === this) return this;
    if (this.isEmpty) return other;
    return this.#with(yield* union(this.root, other.root));
  }

  *intersectionSteps(other: FieldSet): Steps<FieldSet> {
    return this.#with(yield* intersection(this.root, other.root));
  }

  intersection(other: FieldSet): FieldSet {
    return atOnce(this.intersectionSteps(other));
  }

  /** Returns the paths of this set that are not in the other; descendants of a path in the other are kept. */
  difference(other: FieldSet): FieldSet {
    return atOnce(this.differenceSteps(other));
  }

  *differenceSteps(other: FieldSet): Steps<FieldSet> {
    return other.isEmpty ? this : this.#with(yield* difference(this.root, other.root));
  }

  /** Like `difference`, but also removes descendants of the other's paths. */
  recursiveDifference(other: FieldSet): FieldSet {
    return other.isEmpty ? this : this.#with(recursiveDifference(this.root, other.root));
  }

  /** Returns the paths without descendants in the set. */
  leaves(): FieldSet {
    return this.#with(leaves(this.root));
  }

  /** Returns the part of the set below an element. */
  withPrefix(element: PathElement): FieldSet {
    return FieldSet.fromCanonical(this.root[element]);
  }

  equals(other: FieldSet): boolean {
    return equal(this.root, other.root);
  }

  /** Yields all paths: those that end at a node before its descendants. */
  [Symbol.iterator](): Generator<FieldPath> {
    return paths(this.root, []);
  }

  #with(root: Node): FieldSet {
    return root === this.root ? this : FieldSet.fromCanonical(root);
  }
}

function childrenOf(node: Node): Node {
  return node['.'] === undefined ? node : atOnce(withMembership(false, node));
}

function* paths(node: Node, prefix: FieldPath): Generator<FieldPath> {
  for (const element of keysOf(node)) if (element !== '.' && isMember(node[element]!)) yield [...prefix, element];
  for (const element of keysOf(node)) {
    const child = node[element]!;
    if (element !== '.' && hasChildren(child)) yield* paths(child, [...prefix, element]);
  }
}

function withChild(node: Node, element: PathElement, child: Node): Node {
  return atOnce(withChildSteps(node, element, child));
}

/** Returns a copy of a node with one child added in order. */
function* withChildSteps(node: Node, element: PathElement, child: Node): Steps<Node> {
  const isThere = node[element] !== undefined;
  if (isThere && !isWide(node)) return { ...node, [element]: child };
  const out = new NewNode();
  let placed = isThere;
  for (const key of keysOf(node)) {
    if (out.size % stepElements === stepElements - 1) yield;
    if (!placed && key !== '.' && comparePathElements(element, key) < 0) {
      out.add(element, child);
      placed = true;
    }
    out.add(key, key === element ? child : node[key]!);
  }
  if (!placed) out.add(element, child);
  return out.done();
}

function withPath(node: Node, path: FieldPath, at: number): Node {
  const element = path[at]!;
  const child = node[element];
  if (at === path.length - 1) {
    if (child === undefined) return withChild(node, element, leaf);
    return isMember(child) ? node : withChild(node, element, { '.': leaf, ...child });
  }
  return withChild(node, element, withPath(child === undefined ? {} : asParent(child), path, at + 1));
}

/** Returns a node that stays a member when it gets children. */
const asParent = (node: Node): Node => (isEmptyObject(node) ? { '.': leaf } : node);

/** Returns the union of many sets by merging pairs; merging one after another would copy all previous ones each time. */
export function* unionOfAllSteps(sets: readonly FieldSet[]): Steps<FieldSet> {
  let left = sets;
  while (left.length > 1) {
    const pairs: FieldSet[] = [];
    for (let i = 0; i + 1 < left.length; i += 2) {
      pairs.push(yield* left[i]!.unionSteps(left[i + 1]!));
      yield;
    }
    if (left.length % 2 === 1) pairs.push(left.at(-1)!);
    left = pairs;
  }
  return left[0] ?? FieldSet.empty;
}

/** Merges `b` over `a`, both roots or both at the same path; `.` is an ordinary key here, and leaves become explicit. */
function* union(a: Node, b: Node): Steps<Node> {
  if (a === b) return a;
  let changes: Changes | undefined;
  let added: PathElement[] | undefined;
  const isLarge = isWide(a);
  let done = 0;
  for (const element of keysOf(b)) {
    if (++done % stepElements === 0) yield;
    const ours = childOf(a, isLarge, element);
    const theirs = b[element]!;
    if (ours === undefined) (added ??= []).push(element);
    else if (ours !== theirs && element !== '.') {
      const merged = yield* union(asParent(ours), asParent(theirs));
      if (merged !== ours) (changes ??= new Map()).set(element, hasChildren(merged) ? merged : leaf);
    }
  }
  yield;
  const changed = changes ? yield* changedSteps(a, changes) : a;
  if (!added) return changed;
  if (added.length === 1 && added[0] !== '.') return yield* withChildSteps(changed, added[0]!, b[added[0]!]!);
  return yield* mergeSortedSteps(changed, added, b);
}

function unionChild(ours: Node, theirs: Node): Node {
  if (ours === theirs) return ours;
  const merged = atOnce(union(asParent(ours), asParent(theirs)));
  return hasChildren(merged) ? merged : leaf;
}

/** Returns `base` with the elements `added` of `from` inserted in order. */
function* mergeSortedSteps(base: Node, added: PathElement[], from: Node): Steps<Node> {
  const out = new NewNode();
  let next = 0;
  if (added[0] === '.') {
    out.add('.', leaf);
    next = 1;
  }
  for (const element of keysOf(base)) {
    if (element !== '.') {
      while (next < added.length && comparePathElements(added[next]!, element) < 0) {
        if (out.size % stepElements === stepElements - 1) yield;
        out.add(added[next]!, from[added[next++]!]!);
      }
    }
    if (out.size % stepElements === stepElements - 1) yield;
    out.add(element, base[element]!);
  }
  while (next < added.length) {
    if (out.size % stepElements === stepElements - 1) yield;
    out.add(added[next]!, from[added[next++]!]!);
  }
  return out.done();
}

function* intersection(a: Node, b: Node): Steps<Node> {
  const out = new NewNode();
  const isLarge = isWide(b);
  let done = 0;
  for (const element of keysOf(a)) {
    if (++done % stepElements === 0) yield;
    const theirs = childOf(b, isLarge, element);
    if (element === '.' || theirs === undefined) continue;
    const ours = a[element]!;
    const both = ours === leaf ? leafOf(theirs) : yield* join(isMember(ours) && isMember(theirs), yield* intersection(ours, theirs));
    if (both) out.add(element, both);
  }
  return out.done();
}

/** Returns the intersection of a leaf with a node. */
const leafOf = (node: Node): Node | undefined => (isMember(node) ? leaf : undefined);

/** Returns the node without the members of the other; the node itself if they have none in common. Visits only the children. */
function* difference(a: Node, b: Node): Steps<Node> {
  let changes: Changes | undefined;
  let done = 0;
  const isLarge = isWide(a);
  const isOtherLarge = isWide(b);
  for (const element of fewKeys(a) ?? keysOf(b)) {
    if (++done % stepElements === 0) yield;
    const ours = childOf(a, isLarge, element);
    const theirs = childOf(b, isOtherLarge, element);
    if (element === '.' || ours === undefined || theirs === undefined) continue;
    if (ours === leaf) {
      if (isMember(theirs)) (changes ??= new Map()).set(element, undefined);
      continue;
    }
    const rest = yield* difference(ours, theirs);
    if (isChanged(ours, theirs, rest)) (changes ??= new Map()).set(element, yield* restOf(ours, theirs, rest));
  }
  return changes ? yield* changedSteps(a, changes) : a;
}

/** True if a child changes or is removed. */
const isChanged = (ours: Node, theirs: Node, rest: Node): boolean => rest !== ours || (isMember(ours) && isMember(theirs));

/** Returns the rest of a child; undefined if it is removed. */
const restOf = (ours: Node, theirs: Node, rest: Node): Steps<Node | undefined> => joinRest(isMember(ours) && !isMember(theirs), rest);

function recursiveDifference(a: Node, b: Node): Node {
  let changes: Changes | undefined;
  for (const element of keysOf(b)) {
    const ours = a[element];
    if (element === '.' || ours === undefined) continue;
    const theirs = b[element]!;
    if (isMember(theirs)) {
      (changes ??= new Map()).set(element, undefined);
      continue;
    }
    const rest = recursiveDifference(ours, theirs);
    if (rest !== ours) (changes ??= new Map()).set(element, atOnce(joinRest(isMember(ours), rest)));
  }
  return changes ? atOnce(changedSteps(a, changes)) : a;
}

/** New values of changed children; undefined for removed ones. */
type Changes = Map<PathElement, Node | undefined>;

/** From this number of deletions on, copying the remaining properties is faster. */
const manyChanges = 16;

function* changedSteps(node: Node, changes: Changes): Steps<Node> {
  if (changes.size <= manyChanges && !isWide(node)) {
    const out = { ...node };
    for (const [element, child] of changes) {
      if (child) out[element] = child;
      else delete out[element];
    }
    return out;
  }
  const out = new NewNode();
  let done = 0;
  for (const element of keysOf(node)) {
    if (++done % stepElements === 0) yield;
    const child = changes.has(element) ? changes.get(element) : node[element];
    if (child) out.add(element, child);
  }
  return out.done();
}

function leaves(node: Node): Node {
  const out = new NewNode();
  for (const element of keysOf(node)) {
    if (element === '.') continue;
    const child = node[element]!;
    if (!hasChildren(child)) out.add(element, leaf);
    else {
      const rest = leaves(child);
      if (!isEmptyObject(rest)) out.add(element, rest);
    }
  }
  return out.done();
}

function equal(a: Node, b: Node): boolean {
  if (a === b) return true;
  if (isMember(a) !== isMember(b)) return false;
  let count = 0;
  for (const element of keysOf(a)) {
    if (element === '.') continue;
    const theirs = b[element];
    if (theirs === undefined || !equal(a[element]!, theirs)) return false;
    count++;
  }
  for (const element of keysOf(b)) if (element !== '.') count--;
  return count === 0;
}

function* canonicalNode(fields: unknown, depth: number): Steps<Node> {
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) throw new FieldSetError('expected an object in fieldsV1');
  if (depth > maxDepth) throw new FieldSetError(`fieldsV1 is nested more than ${maxDepth} levels deep`);
  const children = new Map<PathElement, Node>();
  let member = false;
  let parsed = 0;
  for (const key of keysOf(fields)) {
    if (++parsed % stepElements === 0) yield;
    const value = (fields as Record<string, unknown>)[key];
    if (key === '.') {
      member = true;
      continue;
    }
    let element: PathElement | undefined;
    try {
      element = parsePathElement(key);
    } catch (cause) {
      throw new FieldSetError(`parsing key as path element: ${(cause as Error).message}`, { cause });
    }
    if (element === undefined) continue;
    const child = yield* canonicalNode(value, depth + 1);
    const known = children.get(element);
    children.set(element, known ? unionChild(known, child) : child);
  }
  if (children.size === 0) return leaf;
  const out = new NewNode();
  if (member) out.add('.', leaf);
  const elements = [...children.keys()];
  const sorted = elements.length > stepElements ? yield* sortedElementsSteps(elements) : sortPathElements(elements);
  for (const element of sorted) {
    if (out.size % stepElements === stepElements - 1) yield;
    out.add(element, children.get(element)!);
  }
  return out.done();
}
