import { Buffer } from 'node:buffer';
import { describe, expect, it, vi } from 'vitest';
import { CachedObject, coolRegularly, heldBytes } from './cached-object.ts';
import { bytesDropped } from './dropped-bytes.ts';
import { emptyReader as reader } from './test-fixture.ts';

let parses = 0;
const counting = {
  ...reader,
  parse: (bytes: Buffer) => {
    parses += 1;
    return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: bytes.toString('utf8', 0, 8) } };
  },
};
const cached = (bytes: number): CachedObject => new CachedObject('/r/a', 1, 1, Buffer.alloc(bytes, 'x'), counting);

/** Returns the number of parses when each object is read once more, the newest first. */
function parsesAgain(objects: readonly CachedObject[]): number {
  const before = parses;
  // Each parse evicts an older object, which is not read later.
  for (const each of objects.toReversed()) void each.object;
  return parses - before;
}

describe('CachedObject', () => {
  it.each([
    { name: 'small', size: 100 },
    { name: 'large', size: 1_000_000 },
  ])('has the same bytes before, while and after a cache holds it ($name)', ({ size }) => {
    const bytes = Buffer.from(`HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(size)}`).subarray(-size);
    const object = new CachedObject('/a', 1, 1, bytes, reader);
    const states = [object.bytes];
    object.settle();
    states.push(object.bytes);
    object.retire();
    states.push(object.bytes);
    expect(states.map((state) => state.equals(bytes))).toEqual([true, true, true]);
    expect(states[0]!.buffer).toBe(bytes.buffer);
    // The object does not retain the buffer of the socket.
    expect(states[1]!.buffer).not.toBe(bytes.buffer);
  });

  it('shows a deletion at its own revision', () => {
    const object = new CachedObject('/a', 1, 1, Buffer.from('{"metadata":{"name":"a","resourceVersion":"1"}}'), reader);
    object.settle();
    expect(object.at(2).bytes.toString()).toBe('{"metadata":{"name":"a","resourceVersion":"2"}}');
    expect(object.at(2).revision).toBe(2);
  });

  it.each([
    { name: 'small objects', count: 2_047, bytes: 100 },
    { name: 'as many large objects as fit into 16 MiB', count: 16, bytes: 1_048_576 },
    { name: 'an object larger than the whole budget', count: 1, bytes: 20_000_000 },
  ])('parses $name once', ({ count, bytes }) => {
    const objects = Array.from({ length: count }, () => cached(bytes));
    for (const each of objects) void each.object;
    expect(parsesAgain(objects)).toBe(0);
  });

  it.each([
    { name: 'small objects', count: 3_000, bytes: 100, kept: 2_047 },
    { name: 'large objects', count: 30, bytes: 1_048_576, kept: 16 },
  ])('evicts the oldest of many $name', ({ count, bytes, kept }) => {
    const objects = Array.from({ length: count }, () => cached(bytes));
    for (const each of objects) void each.object;
    expect(parsesAgain(objects.slice(-kept))).toBe(0);
    expect(parsesAgain(objects.slice(0, count - kept))).toBe(count - kept);
  });

  it('parses an evicted object again and keeps the others', () => {
    const objects = Array.from({ length: 100 }, () => cached(100));
    for (const each of objects) void each.object;
    for (const each of objects.slice(0, 50)) {
      each.forget();
      each.forget();
    }
    expect(parsesAgain(objects)).toBe(50);
  });

  it('takes little memory while unread, and then returns the same bytes', async () => {
    const { live, footprint } = heldBytes();
    const dropped = bytesDropped();
    const bytes = (i: number): Buffer => Buffer.from(`{"metadata":{"name":"${i}"},"data":{"text":"${'abc'.repeat(300)}"}}`);
    const objects = Array.from({ length: 10_000 }, (_, i) => new CachedObject(`/${i}`, i, i, bytes(i), reader));
    for (const object of objects) object.settle();
    const size = heldBytes().live - live;
    expect(size).toBe(objects.reduce((sum, object) => sum + object.size, 0));
    let cool: (() => void) | undefined;
    const stop = vi.fn();
    const every = (_: number, callback: () => void): (() => void) => {
      cool = callback;
      return stop;
    };
    const after = (_: number, callback: () => void): (() => void) => {
      callback();
      return () => undefined;
    };
    const cooling = coolRegularly({ now: () => 0, wallTime: () => 0, after, every });
    await vi.waitFor(() => {
      cool?.();
      expect(bytesDropped() - dropped).toBeGreaterThan(size * 0.9);
    });
    expect(heldBytes().footprint - footprint).toBeLessThan(size / 5);
    expect(objects.every((object, i) => object.bytes.equals(bytes(i)))).toBe(true);
    cooling[Symbol.dispose]();
    expect(stop).toHaveBeenCalledOnce();
    for (const object of objects) object.retire();
  });
});
