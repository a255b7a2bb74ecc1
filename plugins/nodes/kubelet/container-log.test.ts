import type { Pod } from 'kubenest/types/core_v1';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { noStore } from '../pods/file-store.ts';
import type { KnownPods } from '../pods/known-pods.ts';
import { followLog, type LogSource, logSource } from './container-log.ts';

beforeEach(() => void vi.useFakeTimers({ now: Date.parse('2026-01-01T00:00:00Z') }));
afterEach(() => void vi.useRealTimers());

describe('a followed log', () => {
  it('waits for a client that does not read, then shows all that was written meanwhile', () => {
    const pod: Pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'ticking', namespace: 'default', uid: '1' },
      spec: { containers: [{ name: 'c', command: ['sh', '-c', 'while true; do echo tick; sleep 1; done'] }] },
      status: { containerStatuses: [{ name: 'c', state: { running: { startedAt: '2026-01-01T00:00:00Z' } } } as never] },
    };
    const pods = { watch: () => ({ [Symbol.dispose]: () => {} }) } as Partial<KnownPods> as KnownPods;
    let isReading = false;
    const shown: string[] = [];
    const following = followLog(logSource(pod, 'c', false) as LogSource, pods, noStore, Date.now(), {
      isReading: () => isReading,
      added: (parts) => void shown.push(parts.map(({ text }) => text).join('')),
      ended: () => {},
    });
    vi.advanceTimersByTime(3_500);
    expect(shown).toEqual([]);
    isReading = true;
    vi.advanceTimersByTime(1_000);
    expect(shown).toEqual(['tick\ntick\ntick\ntick\n']);
    following[Symbol.dispose]();
  });
});
