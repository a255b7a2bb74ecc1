import { SharedBudget } from '#apiserver/request/shared-budget';
import { HeldLists } from './held-lists.ts';
import { LargeLists } from './list-runs.ts';

const mebibyte = 1024 * 1024;

/**
 * Memory budgets of requests. All servers of a process share them, because they bound the memory of the process: an exhausted budget delays
 * requests, and changes no response. docs/internals/state.md lists all other state of the process.
 */
export const processBudgets = {
  /** Large bodies that are being received. Further ones wait before they are read; the transport's flow control stops their clients. */
  arrivingBodies: new SharedBudget(256 * mebibyte),
  /**
   * Large bodies that are being processed: three megabytes of `{}` become a hundred in memory, and concurrency does not speed up a single
   * thread. Bodies count once they are received, so that a slow sender does not delay others.
   */
  processedBodies: new SharedBudget(8 * mebibyte),
  /** Runs of larger lists are encoded as the client reads them; otherwise each response would be a second copy of the stored data. */
  largeLists: new LargeLists(32 * mebibyte),
  /** Lists of selected objects are copies of their own. Above this total, further ones are encoded as their clients read them. */
  heldLists: new HeldLists(24 * mebibyte),
} as const;
