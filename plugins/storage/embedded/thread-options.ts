import type { WorkerOptions } from 'node:worker_threads';

/** Options of a thread that holds one batch at most. */
export const threadOptions: WorkerOptions = {
  execArgv: [],
  resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4, codeRangeSizeMb: 4, stackSizeMb: 1 },
};
