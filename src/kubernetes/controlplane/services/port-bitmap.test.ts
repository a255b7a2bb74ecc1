import { describe, expect, test } from 'vitest';
import { formatPortRange, PortBitmap } from './port-bitmap.ts';

const range = { base: 30_000, size: 2_768 };
const none = new Set<number>();

describe('PortBitmap', () => {
  test('stores one big-endian number, as upstream', () => {
    const bitmap = new PortBitmap(range);
    expect(bitmap.toBytes().toString('hex')).toBe('');
    for (const port of [30_000, 30_001, 30_009]) bitmap.set(port, true);
    expect(bitmap.toBytes().toString('hex')).toBe('0203');
    const read = PortBitmap.fromBytes(range, bitmap.toBytes());
    expect([...read]).toEqual([30_000, 30_001, 30_009]);
    expect(read.equals(bitmap)).toBe(true);
    expect(read.count).toBe(3);
  });

  test('counts changes, and ignores ports out of range', () => {
    const bitmap = new PortBitmap(range);
    bitmap.set(30_000, true);
    bitmap.set(30_000, true);
    bitmap.set(80, true);
    bitmap.set(30_005, false);
    expect([bitmap.count, bitmap.has(30_000), bitmap.has(80)]).toEqual([1, true, false]);
    expect(() => bitmap.checkRange(80)).toThrow('provided port is not in the valid range. The range of valid ports is 30000-32767');
    expect(formatPortRange({ base: 1, size: 1 })).toBe('1-1');
  });

  test.each([
    { name: 'the lower band last', size: 32, taken: 16, excluded: [], want: 30_000 },
    { name: 'no excluded port', size: 32, taken: 16, excluded: [30_000, 30_001], want: 30_002 },
    { name: 'no lower band in a small range', size: 16, taken: 0, excluded: [30_000], want: 30_001 },
    { name: 'no port if all are allocated', size: 16, taken: 16, excluded: [], want: undefined },
  ])('finds $name', ({ size, taken, excluded, want }) => {
    const bitmap = new PortBitmap({ base: 30_000, size });
    for (let at = 0; at < taken; at += 1) bitmap.set(30_000 + size - 1 - at, true);
    expect(bitmap.findFree(new Set(excluded), () => 0)).toBe(want);
  });

  test('starts in the upper band', () => {
    expect(new PortBitmap(range).findFree(none, () => 0)).toBe(30_086);
    expect(new PortBitmap(range).findFree(none, () => 0.9999)).toBe(32_767);
  });
});
