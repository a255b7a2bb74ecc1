import { UnsupportedScriptError } from './script.ts';

/** Largest amount of work that commands may cost the server without a pause: about 30 ms of its thread. */
export const maxWork = 65_536;

let left = Infinity;

/**
 * Calls `run`, in which simulated commands may cost the server this many units of work, and no more than the caller has left. Scripts,
 * files, variables, containers and probes, which the user of a pod chooses, then cannot stop the server's event loop.
 */
export function limitWork<T>(units: number, run: () => T): T {
  const outer = left;
  const own = Math.min(units, outer);
  left = own;
  try {
    return run();
  } finally {
    left = outer - (own - left);
  }
}

/** Counts work in units of about half a microsecond. Throws UnsupportedScriptError if it exceeds the limit. */
export function spendWork(units: number): void {
  left -= units;
  if (left < 0) throw new UnsupportedScriptError('the script does too much');
}

/** True if the limit was exceeded, so that no further command can run. */
export function isWorkSpent(): boolean {
  return left < 0;
}

/** Units of work for a text that a program reads or writes. */
export function workOfText({ length }: string): number {
  return 1 + (length >> 4);
}
