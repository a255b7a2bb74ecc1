import { FakeClock } from 'kubenest/sdk/testing';
import type { DaemonSet } from 'kubenest/types/apps_v1';
import { expect, it } from 'vitest';
import { FailedPodBackoff } from './failed-pod-backoff.ts';

it('doubles the time between deletions on a node, up to 15 minutes', async () => {
  const clock = new FakeClock();
  const backoff = new FailedPodBackoff(clock);
  const daemonSet: DaemonSet = { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { uid: 'd' } };
  const waits: number[] = [];
  for (let i = 0; i < 12; i++) {
    expect(backoff.next(daemonSet, 'a')).toBe(0);
    const wait = backoff.next(daemonSet, 'a');
    waits.push(wait / 1_000);
    await clock.advance(wait);
  }
  expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]);
  expect(backoff.next(daemonSet, 'b')).toBe(0);
});
