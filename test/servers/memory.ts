/** Memory of a server process in megabytes. */
import { readFileSync, writeFileSync } from 'node:fs';
import type { Kubenest } from './kubenest.ts';

export const megabyte = 1e6;

export function memory({ pid }: Kubenest): { readonly now: number; readonly most: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const read = (name: string): number => (Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)![1]) * 1_024) / megabyte;
  return { now: read('VmRSS'), most: read('VmHWM') };
}

/** Returns the duration of the work and the peak memory during it. */
export async function measured(
  server: Kubenest,
  work: () => Promise<unknown>,
): Promise<{ readonly seconds: number; readonly most: number }> {
  writeFileSync(`/proc/${server.pid}/clear_refs`, '5');
  const began = performance.now();
  await work();
  return { seconds: (performance.now() - began) / 1_000, most: memory(server).most };
}
