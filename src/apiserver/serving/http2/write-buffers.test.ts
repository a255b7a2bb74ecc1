import { describe, expect, it } from 'vitest';
import { sliceBytes } from '../write-slices.ts';
import { acquireBuffer, releaseBuffer } from './write-buffers.ts';

const kib = 1024;

describe('write buffers', () => {
  it.each([2 * kib, 4 * kib, 13 * kib, 40 * kib, sliceBytes + 100])('reuses a buffer of %d bytes', (bytes) => {
    const first = acquireBuffer(bytes);
    expect(first.length).toBeGreaterThanOrEqual(bytes);
    releaseBuffer(first);
    expect(acquireBuffer(bytes)).toBe(first);
  });

  it('returns distinct buffers while they are in use', () => {
    const first = acquireBuffer(2 * kib);
    expect(acquireBuffer(2 * kib).buffer).not.toBe(first.buffer);
  });

  it('does not keep small buffers and those larger than a slice', () => {
    for (const bytes of [100, 1024 * kib]) {
      const first = acquireBuffer(bytes);
      expect(first.length).toBe(bytes);
      releaseBuffer(first);
      expect(acquireBuffer(bytes)).not.toBe(first);
    }
  });

  it('keeps at most 4 MiB of each size', () => {
    const used = Array.from({ length: 100 }, () => acquireBuffer(40 * kib));
    for (const buffer of used) releaseBuffer(buffer);
    const again = Array.from({ length: 100 }, () => acquireBuffer(40 * kib));
    expect(again.filter((buffer) => used.includes(buffer)).length).toBe(Math.floor((4 * kib) / 48));
  });
});
