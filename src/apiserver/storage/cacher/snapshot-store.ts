import type { Revision } from '../storage.ts';
import type { EventHistory } from './event-history.ts';
import type { ObjectTree, Snapshot } from './object-tree.ts';

const maxSnapshots = 256;
/** More events than this are not undone: the storage is asked instead. */
const maxUndone = 10_000;

interface Kept {
  readonly snapshot: Snapshot;
  usedAt: number;
}

/**
 * States of the past. Those of which a first page was given out are kept, for the pages after it; any other that the
 * history reaches is made of a later one by undoing the events between.
 */
export class SnapshotStore {
  readonly #keepMs: number;
  /** In the order of the last use. */
  readonly #kept = new Map<Revision, Kept>();
  #isEnabled = true;

  constructor(keepMs: number) {
    this.#keepMs = keepMs;
  }

  keep(revision: Revision, snapshot: Snapshot, now: number): void {
    if (!this.#isEnabled) return;
    this.#kept.delete(revision);
    this.#kept.set(revision, { snapshot, usedAt: now });
    this.prune(now);
  }

  /** The state at a revision that is not after `current`; undefined if it cannot be had from memory. */
  at(revision: Revision, current: Revision, tree: ObjectTree, history: EventHistory, now: number): Snapshot | undefined {
    if (!this.#isEnabled || revision > current) return undefined;
    const kept = this.#kept.get(revision)?.snapshot;
    const snapshot = kept ?? undo(revision, tree, history);
    if (snapshot) this.keep(revision, snapshot, now);
    return snapshot;
  }

  enable(isEnabled: boolean): void {
    this.#isEnabled = isEnabled;
    if (!isEnabled) this.clear();
  }

  clear(): void {
    this.#kept.clear();
  }

  prune(now: number): void {
    for (const [revision, { usedAt }] of this.#kept) {
      if (this.#kept.size <= maxSnapshots && now - usedAt <= this.#keepMs) return;
      this.#kept.delete(revision);
    }
  }
}

function undo(revision: Revision, tree: ObjectTree, history: EventHistory): Snapshot | undefined {
  if (revision < history.completeAfter) return undefined;
  const first = history.indexAfter(revision);
  if (history.size - first > maxUndone) return undefined;
  const present = tree.snapshot();
  if (first === history.size) return present;
  const past = present.fork();
  for (let i = history.size - 1; i >= first; i--) {
    const { key, previous } = history.at(i);
    if (previous) past.set(previous);
    else past.delete(key);
  }
  return past.snapshot();
}
