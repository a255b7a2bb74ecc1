import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { compareKeys } from '../key.ts';
import { CachedObject } from './cached-object.ts';
import { ObjectTree, type Snapshot } from './object-tree.ts';
import { emptyReader as reader } from './test-fixture.ts';

const object = (key: string, revision = 1): CachedObject => new CachedObject(key, revision, 1, Buffer.from(`${key}@${revision}`), reader);
const comma = Buffer.from(',');
const bytesOf = (item: CachedObject): Buffer => item.bytes;

function keysOf(snapshot: Snapshot, prefix: string, from?: string): string[] {
  return snapshot.chunks(prefix, from).flatMap((chunk) => chunk.items.map((item) => `${item.key}@${item.revision}`));
}

function put(objects: readonly CachedObject[]): ObjectTree {
  const tree = new ObjectTree();
  for (const each of objects) tree.set(each);
  return tree;
}

/** Returns a seeded pseudorandom generator, so that failures can be reproduced. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

describe('ObjectTree', () => {
  it.each([
    { name: 'put one by one', make: (objects: readonly CachedObject[]) => put(objects) },
    { name: 'built at once', make: (objects: readonly CachedObject[]) => ObjectTree.from(objects) },
  ])('has leaves that count as shared by its lists: $name', ({ make }) => {
    const objects = Array.from({ length: 1_000 }, (_, i) => object(`/a/${String(i).padStart(4, '0')}`));
    const chunks = make(objects).snapshot().chunks('/a/');
    expect(chunks.length).toBeGreaterThan(1);
    for (const { owner } of chunks) expect(owner).toBeDefined();
  });

  it.each([
    { name: 'inserted in order', make: (objects: readonly CachedObject[]) => put(objects) },
    { name: 'inserted from the end', make: (objects: readonly CachedObject[]) => put(objects.toReversed()) },
    {
      name: 'replaced by larger ones',
      make: (objects: readonly CachedObject[]) => put([...objects.map(({ key }) => object(key)), ...objects]),
    },
    { name: 'built at once', make: (objects: readonly CachedObject[]) => ObjectTree.from(objects) },
  ])('keeps few large objects in a leaf: $name', ({ make }) => {
    const large = Array.from({ length: 100 }, (_, i) => {
      const key = `/r/${100 + i}`;
      return new CachedObject(key, 1, 1, Buffer.alloc(i === 50 ? 1_000_000 : 100_000), reader);
    });
    const snapshot = make(large).snapshot();
    expect(keysOf(snapshot, '/r/')).toEqual(large.map(({ key }) => `${key}@1`));
    for (const { items } of snapshot.leaves) {
      const bytes = items.reduce((sum, { size }) => sum + size, 0);
      expect(items.length === 1 || bytes <= 512 * 1024, `${items.length} objects of ${bytes} bytes`).toBe(true);
    }
    expect(snapshot.leaves.length).toBeLessThan(70);
  });

  it("updates a leaf's size and its unreadable objects", () => {
    const tree = put([object('/r/a'), object('/r/b')]);
    const bytes = (): number[] => tree.snapshot().leaves.map((leaf) => leaf.bytes);
    expect(bytes()).toEqual([12]);
    tree.set(object('/r/b', 100));
    expect(bytes()).toEqual([14]);
    tree.delete('/r/a');
    expect(bytes()).toEqual([8]);
    tree.set(new CachedObject('/r/c', 1, 1, Buffer.alloc(0), reader, new Error('unreadable')));
    expect(bytes).toThrow('unreadable');
  });

  it.each([1, 2, 3])('is a sorted map with immutable snapshots (seed %d)', (seed) => {
    const next = random(seed);
    const tree = new ObjectTree();
    const model = new Map<string, CachedObject>();
    const snapshots: { readonly snapshot: Snapshot; readonly expected: readonly string[] }[] = [];
    const expected = (prefix: string, from = prefix): string[] =>
      [...model.values()]
        .filter(({ key }) => key.startsWith(prefix) && compareKeys(key, from) >= 0)
        .sort((a, b) => compareKeys(a.key, b.key))
        .map(({ key, revision }) => `${key}@${revision}`);
    const suffixes = ['', '-é', '😀', 'ｚ', '.x'];
    for (let step = 1; step <= 6_000; step++) {
      const key = `/pods/ns${next(5)}/p${next(400)}${suffixes[next(5)]}`;
      const growing = step < 3_000 ? 3 : 1;
      if (next(4) < growing) {
        tree.set(object(key, step));
        model.set(key, object(key, step));
      } else {
        tree.delete(key);
        model.delete(key);
      }
      expect(tree.size).toBe(model.size);
      if (step % 500 === 0) snapshots.push({ snapshot: tree.snapshot(), expected: expected('/pods/') });
      if (step % 250 === 0) {
        const snapshot = tree.snapshot();
        expect(snapshot.size).toBe(model.size);
        const prefix = `/pods/ns${next(5)}/`;
        expect(keysOf(snapshot, prefix)).toEqual(expected(prefix));
        const from = `${prefix}p${next(400)}\0`;
        expect(keysOf(snapshot, prefix, from)).toEqual(expected(prefix, from));
        expect(snapshot.get(key)?.revision).toBe(model.get(key)?.revision);
        for (const leaf of snapshot.leaves) expect(leaf.items.length).toBeGreaterThan(0);
      }
    }
    for (const { snapshot, expected: then } of snapshots) expect(keysOf(snapshot, '/pods/')).toEqual(then);
  });

  it('returns the same snapshot until it changes', () => {
    const tree = ObjectTree.from([object('/a/1'), object('/a/2')]);
    const snapshot = tree.snapshot();
    expect(tree.snapshot()).toBe(snapshot);
    tree.set(object('/a/1', 2));
    expect(tree.snapshot()).not.toBe(snapshot);
    expect(keysOf(snapshot, '/a/')).toEqual(['/a/1@1', '/a/2@1']);
  });

  it('encodes only changed leaves', () => {
    const tree = ObjectTree.from(Array.from({ length: 1_000 }, (_, i) => object(`/a/${String(i).padStart(4, '0')}`)));
    let made = 0;
    const list = (): Buffer[] =>
      tree
        .snapshot()
        .chunks('/a/')
        .map((chunk) =>
          chunk.encoded(
            'v',
            (item) => {
              made++;
              return item.bytes;
            },
            comma,
          ),
        );
    const first = list();
    expect(made).toBe(1_000);
    expect(Buffer.concat(first.flatMap((bytes, i) => (i > 0 ? [comma, bytes] : [bytes]))).toString()).toBe(
      Array.from({ length: 1_000 }, (_, i) => `/a/${String(i).padStart(4, '0')}@1`).join(','),
    );
    expect(list().every((bytes, i) => bytes === first[i])).toBe(true);
    tree.set(object('/a/0500', 2));
    made = 0;
    const changed = list();
    expect(made).toBeLessThanOrEqual(128);
    expect(changed.filter((bytes, i) => bytes !== first[i])).toHaveLength(1);
  });

  it('keeps the encoding of a part of a leaf, and drops encodings unused since the last sweep', () => {
    const tree = ObjectTree.from(['/a/x/1', '/a/y/1', '/a/y/2', '/a/z/1'].map((key) => object(key)));
    const part = (): Buffer => tree.snapshot().chunks('/a/y/')[0]!.encoded('v', bytesOf, comma);
    const bytes = part();
    expect(bytes.toString()).toBe('/a/y/1@1,/a/y/2@1');
    expect(part()).toBe(bytes);
    tree.sweep();
    expect(part()).toBe(bytes);
    tree.sweep();
    tree.sweep();
    expect(part()).not.toBe(bytes);
  });

  it('forks an independent past state', () => {
    const tree = ObjectTree.from([object('/a/1'), object('/a/2')]);
    const fork = tree.snapshot().fork();
    fork.delete('/a/1');
    fork.set(object('/a/3'));
    expect(keysOf(fork.snapshot(), '/a/')).toEqual(['/a/2@1', '/a/3@1']);
    expect(keysOf(tree.snapshot(), '/a/')).toEqual(['/a/1@1', '/a/2@1']);
  });
});
