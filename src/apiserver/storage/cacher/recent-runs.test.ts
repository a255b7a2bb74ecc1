import { expect, it } from 'vitest';
import type { ListChunk } from './object-tree.ts';
import { RecentRuns } from './recent-runs.ts';

/** A chunk that records which encodings were dropped. */
function chunk(name: string, dropped: string[]): ListChunk {
  return { drop: (variant: string) => void dropped.push(`${name}:${variant}`) } as Partial<ListChunk> as ListChunk;
}

it('evicts the least recently used run and never the last one', () => {
  const dropped: string[] = [];
  const [a, b, c] = ['a', 'b', 'c'].map((name) => chunk(name, dropped)) as [ListChunk, ListChunk, ListChunk];
  const runs = new RecentRuns(100);
  runs.used(a, 'v1', 40);
  runs.used(b, 'v1', 40);
  runs.used(a, 'v1', 40);
  expect(dropped).toEqual([]);
  runs.used(c, 'v1', 40);
  expect(dropped).toEqual(['b:v1']);
  runs.used(b, 'v1', 500);
  expect(dropped).toEqual(['b:v1', 'a:v1', 'c:v1']);
});

it('keeps one variant of a chunk', () => {
  const dropped: string[] = [];
  const a = chunk('a', dropped);
  const runs = new RecentRuns(100);
  runs.used(a, 'v1', 60);
  runs.used(a, 'v2', 60);
  expect(dropped).toEqual(['a:v1']);
  runs.used(chunk('b', dropped), 'v1', 40);
  expect(dropped).toEqual(['a:v1']);
});

it('drops all runs after the last list', () => {
  const dropped: string[] = [];
  const runs = new RecentRuns(100);
  const ends = [runs.begin(), runs.begin()] as const;
  runs.used(chunk('a', dropped), 'v1', 60);
  ends[0]();
  runs.used(chunk('b', dropped), 'v1', 60);
  expect(dropped).toEqual(['a:v1']);
  ends[1]();
  runs.used(chunk('c', dropped), 'v1', 60);
  expect(dropped).toEqual(['a:v1']);
});
