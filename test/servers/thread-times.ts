import { readFileSync } from 'node:fs';

export interface ThreadTimes {
  readonly ranMs: number;
  /** It was ready to run, and had no processor. */
  readonly waitedMs: number;
}

/** Of the first thread of a process, since its start. Upstream: proc(5), schedstat. */
export function threadTimes(pid: number): ThreadTimes {
  const [ran, waited] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
  return { ranMs: Number(ran) / 1e6, waitedMs: Number(waited) / 1e6 };
}
