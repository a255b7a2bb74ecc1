import type { Revision } from '../storage.ts';
import type { EventHistory } from './event-history.ts';
import type { ObjectTree, Snapshot } from './object-tree.ts';

const maxSnapshots = 256;
/** Maximum number of events to undo; beyond it the storage is read. */
const maxUndone = 10_000;

interface Kept {
  readonly snapshot: Snapshot;
  usedAt: number;
}

/**
 * Snapshots of past states. States whose first page was returned are kept for the following pages; any other state within
 * the history is rebuilt from a later one by undoing the events between them.
 */
export class SnapshotStore {
  readonly #keepMs: number;
  /** Kept snapshots in the order of last use. */
  readonly #kept = new Map<Revision, Kept>();
  #isEnabled = true;
  #compacted: Revision = 0;

  constructor(keepMs: number) {
    this.#keepMs = keepMs;
  }

  keep(revision: Revision, snapshot: Snapshot, now: number): void {
    if (!this.#isEnabled) return;
    this.#kept.delete(revision);
    this.#kept.set(revision, { snapshot, usedAt: now });
    this.prune(now);
  }

  get isEmpty(): boolean {
    return this.#kept.size === 0;
  }

  /**
   * Forgets the states before a compaction of the storage, also those that memory could provide: continue tokens expire on every server at
   * about the same time. Upstream: apiserver/pkg/storage/cacher/compactor.go.
   */
  compact(revision: Revision): void {
    this.#compacted = Math.max(this.#compacted, revision);
    for (const kept of this.#kept.keys()) if (kept < this.#compacted) this.#kept.delete(kept);
  }

  /** Returns the state at a revision not after `current`; undefined if memory cannot provide it. */
  at(revision: Revision, current: Revision, tree: ObjectTree, history: EventHistory, now: number): Snapshot | undefined {
    if (!this.#isEnabled || revision > current || revision < this.#compacted) return undefined;
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
