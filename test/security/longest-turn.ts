/** Maximum size of a body. */
export const limitBytes = 3 * 1_048_576 - 4_096;

/** Returns as many of the texts as fit, separated by commas. */
export function many(make: (i: number) => string, bytes = limitBytes): string {
  const parts: string[] = [];
  for (let i = 0, size = 0; ; i++) {
    const part = make(i);
    size += part.length + 1;
    if (size > bytes) return parts.join();
    parts.push(part);
  }
}

/** Returns the longest CPU time of this thread between two turns of the event loop during the work, in milliseconds. */
export async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let isOver = false;
  const now = (): number => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  };
  let last = now();
  const watch = (): void => {
    const at = now();
    longest = Math.max(longest, at - last);
    last = at;
    if (!isOver) setImmediate(watch);
  };
  setImmediate(watch);
  await work();
  // Includes the turn that created the response.
  await new Promise((resolve) => setImmediate(resolve));
  isOver = true;
  return longest;
}
