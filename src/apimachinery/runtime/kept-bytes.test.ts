import { Buffer } from 'node:buffer';
import { expect, it } from 'vitest';
import { concatKept, kept, shareKeptBytes, sharedMemoryOf } from './kept-bytes.ts';

const parts = [Buffer.alloc(5_000, 'a'), Buffer.from('b'), Buffer.alloc(0), Buffer.alloc(5_000, 'c')];

it('keeps large buffers in shared memory once enabled', () => {
  const before = concatKept(parts);
  expect(sharedMemoryOf(before)).toBeUndefined();
  expect(kept(before)).toBe(before);
  shareKeptBytes();
  const after = concatKept(parts);
  expect(after).toEqual(Buffer.concat(parts));
  expect(before).toEqual(after);
  expect(sharedMemoryOf(kept(before))?.byteLength).toBe(before.length);
  expect(sharedMemoryOf(after)?.byteLength).toBe(after.length);
  expect(sharedMemoryOf(after.subarray(1, 2))).toBe(sharedMemoryOf(after));
  expect(sharedMemoryOf(concatKept([Buffer.from('few')]))).toBeUndefined();
  expect(concatKept([]).length).toBe(0);
});
