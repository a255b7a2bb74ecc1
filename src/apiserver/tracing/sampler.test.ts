import { Buffer } from 'node:buffer';
import { expect, test } from 'vitest';
import { traceIdRatioSampler } from './sampler.ts';

/** Returns a trace id with the given last eight bytes. */
const traceId = (last: string): Buffer => Buffer.from(`${'ff'.repeat(8)}${last}`, 'hex');

test.each([
  { rate: 0, last: '0000000000000000', want: false },
  { rate: 1_000_000, last: 'ffffffffffffffff', want: true },
  { rate: 500_000, last: '7fffffff00000000', want: true },
  { rate: 500_000, last: '8000000000000000', want: false },
  { rate: 1, last: '0000000000000001', want: true },
  { rate: 1, last: '0000ffff00000000', want: false },
])('$rate per million, $last: $want', ({ rate, last, want }) => {
  expect(traceIdRatioSampler(rate)(traceId(last))).toBe(want);
});
