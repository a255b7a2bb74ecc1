/** The conformance tests of storage backends. They run in vitest, which the package must install. */
import { afterEach, beforeEach, describe } from 'vitest';
import type { CommitFeed, Storage } from '#apiserver/storage/storage';
import { compactionCases } from './storage-cases/compaction.ts';
import { lifecycleCases } from './storage-cases/lifecycle.ts';
import { readCases } from './storage-cases/reads.ts';
import { type ConformanceStore, TestedStore } from './storage-cases/tested-store.ts';
import { watchCases } from './storage-cases/watches.ts';
import { writeCases } from './storage-cases/writes.ts';

export type { ConformanceStore };

/**
 * Builds a store with `reopen`. `open` opens the persisted data; `end` releases the resources behind it (a directory, a
 * process).
 */
export async function reopenableStore(
  open: () => Promise<Storage & Partial<CommitFeed>>,
  end: () => PromiseLike<void> = async () => {},
): Promise<ConformanceStore> {
  const opened = [await open()];
  return {
    storage: opened[0]!,
    async reopen() {
      await opened.at(-1)!.close();
      opened.push(await open());
      return opened.at(-1)!;
    },
    async cleanup() {
      for (const storage of opened) await storage.close();
      await end();
    },
  };
}

/**
 * Registers the cases that every backend must pass: the cases of upstream's apiserver/pkg/storage/testing (store_tests.go,
 * watcher_tests.go) that concern the storage, not the cache. Call it at the top level of a test file.
 */
export function storageConformance(name: string, open: () => Promise<ConformanceStore>): void {
  describe(`${name}: storage contract`, () => {
    const tested = new TestedStore();
    beforeEach(async () => tested.begin(await open()));
    afterEach(() => tested.end());
    writeCases(tested);
    readCases(tested);
    compactionCases(tested);
    watchCases(tested);
    lifecycleCases(tested);
  });
}
