import { readFileSync } from 'node:fs';

export interface ThreadTimes {
  readonly ranMs: number;
  /** Time during which it was runnable without a processor. */
  readonly waitedMs: number;
}

/** Returns the times of a process's first thread since its start. Upstream: proc(5), schedstat. */
export function threadTimes(pid: number): ThreadTimes {
  const [ran, waited] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
  return { ranMs: Number(ran) / 1e6, waitedMs: Number(waited) / 1e6 };
}
