import type { Clock } from 'kubenest/sdk';
import type { DaemonSet } from 'kubenest/types/apps_v1';

const firstMs = 1_000;
const maxMs = 15 * 60_000;

/** Delays between deletions of failed pods on a node, where a kubelet may reject each one. Upstream: failedPodsBackoff. */
export class FailedPodBackoff {
  readonly #entries = new Map<string, { readonly delayMs: number; readonly since: number }>();

  constructor(readonly clock: Clock) {}

  /** Returns 0 if a failed pod may be deleted now, which doubles the next delay; else the time to wait. */
  next({ metadata, status }: DaemonSet, node: string): number {
    const now = this.clock.now();
    this.#forgetOld(now);
    const key = `${metadata.uid}/${status?.observedGeneration ?? 0}/${node}`;
    const entry = this.#entries.get(key);
    if (entry && now - entry.since < entry.delayMs) return entry.delayMs - (now - entry.since);
    this.#entries.delete(key);
    this.#entries.set(key, { delayMs: entry ? Math.min(entry.delayMs * 2, maxMs) : firstMs, since: now });
    return 0;
  }

  /** The entries are in the order of their times. */
  #forgetOld(now: number): void {
    for (const [key, { since }] of this.#entries) {
      if (now - since <= 2 * maxMs) return;
      this.#entries.delete(key);
    }
  }
}
