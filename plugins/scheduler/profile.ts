import type { Filter, Score } from './framework/framework.ts';

/** Plugins for the pods of one scheduler name. */
export interface Profile {
  readonly schedulerName: string;
  readonly filters: readonly Filter[];
  readonly scores: readonly Score[];
  /** True if pods of a lower priority give way to a pod that fits nowhere. */
  readonly preempts: boolean;
}

export const defaultSchedulerName = 'default-scheduler';
