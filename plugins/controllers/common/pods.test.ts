import type { Pod } from 'kubenest/types/core_v1';
import { describe, expect, it } from 'vitest';
import { isPodActive, isPodAvailable, isPodTerminating, nextAvailabilityMs } from './pods.ts';

const now = Date.parse('2026-01-01T00:01:00Z');
const pod = (phase: string, readyAt?: string, isDeleted = false): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', ...(isDeleted && { deletionTimestamp: '2026-01-01T00:00:00Z' }) },
  status: { phase, conditions: readyAt ? [{ type: 'Ready', status: 'True', lastTransitionTime: readyAt }] : [] },
});

describe('isPodAvailable', () => {
  it.each([
    { name: 'not ready', of: pod('Running'), seconds: 0, expected: false },
    { name: 'ready', of: pod('Running', '2026-01-01T00:01:00Z'), seconds: 0, expected: true },
    { name: 'ready for too short', of: pod('Running', '2026-01-01T00:00:51Z'), seconds: 10, expected: false },
    { name: 'ready long enough', of: pod('Running', '2026-01-01T00:00:50Z'), seconds: 10, expected: true },
  ])('$name: $expected', ({ of, seconds, expected }) => {
    expect(isPodAvailable(of, seconds, now)).toBe(expected);
  });
});

it.each([
  { name: 'a running pod', of: pod('Running'), expected: [true, false] },
  { name: 'a deleted pod', of: pod('Running', undefined, true), expected: [false, true] },
  { name: 'an ended pod', of: pod('Succeeded'), expected: [false, false] },
  { name: 'an ended and deleted pod', of: pod('Failed', undefined, true), expected: [false, false] },
])('$name is active or terminating: $expected', ({ of, expected }) => {
  expect([isPodActive(of), isPodTerminating(of)]).toEqual(expected);
});

it('waits for the next pod to become available', () => {
  const pods = [pod('Running', '2026-01-01T00:00:55Z'), pod('Running', '2026-01-01T00:00:59Z'), pod('Running', '2026-01-01T00:00:00Z')];
  expect(nextAvailabilityMs(pods, 10, now)).toBe(5_000);
  expect(nextAvailabilityMs([pod('Running')], 10, now)).toBeUndefined();
});
