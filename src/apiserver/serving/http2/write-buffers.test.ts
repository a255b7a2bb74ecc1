import { describe, expect, it } from 'vitest';
import { sliceBytes } from '../write-slices.ts';
import { acquireBuffer, releaseBuffer } from './write-buffers.ts';

const kib = 1024;

describe('buffers of writes', () => {
  it.each([2 * kib, 4 * kib, 13 * kib, 40 * kib, sliceBytes + 100])('one of %d bytes is used again', (bytes) => {
    const first = acquireBuffer(bytes);
    expect(first.length).toBeGreaterThanOrEqual(bytes);
    releaseBuffer(first);
    expect(acquireBuffer(bytes)).toBe(first);
  });

  it('two that are in use are not the same', () => {
    const first = acquireBuffer(2 * kib);
    expect(acquireBuffer(2 * kib).buffer).not.toBe(first.buffer);
  });

  it('small ones and those larger than a slice are not kept', () => {
    for (const bytes of [100, 1024 * kib]) {
      const first = acquireBuffer(bytes);
      expect(first.length).toBe(bytes);
      releaseBuffer(first);
      expect(acquireBuffer(bytes)).not.toBe(first);
    }
  });

  it('4 MiB of each size are kept at most', () => {
    const used = Array.from({ length: 100 }, () => acquireBuffer(40 * kib));
    for (const buffer of used) releaseBuffer(buffer);
    const again = Array.from({ length: 100 }, () => acquireBuffer(40 * kib));
    expect(again.filter((buffer) => used.includes(buffer)).length).toBe(Math.floor((4 * kib) / 48));
  });
});
