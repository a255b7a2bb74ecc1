import { Buffer } from 'node:buffer';
import { expect, it } from 'vitest';
import { MergedBytes } from './merged-bytes.ts';

it('returns appended bytes once', () => {
  const merged = new MergedBytes();
  for (const part of ['a', '', 'bc', 'd'.repeat(1_000)]) merged.append(Buffer.from(part));
  expect(merged.length).toBe(1_003);
  const taken = merged.take();
  expect(taken.toString()).toBe(`abc${'d'.repeat(1_000)}`);
  expect([merged.length, merged.take().length]).toEqual([0, 0]);
  merged.append(Buffer.from('other'));
  expect([merged.take().toString(), taken.toString().slice(0, 4)]).toEqual(['other', 'abcd']);
});

it('copies appended bytes', () => {
  const merged = new MergedBytes();
  const part = Buffer.from('before');
  merged.append(part);
  part.write('after!');
  expect(merged.take().toString()).toBe('before');
});

it('allocates at most twice the appended bytes for chunks of one byte', () => {
  const merged = new MergedBytes();
  const part = Buffer.from('x');
  for (let i = 0; i < 100_000; i += 1) merged.append(part);
  const taken = merged.take();
  expect(taken.length).toBe(100_000);
  expect(taken.buffer.byteLength).toBeLessThanOrEqual(200_000);
});
