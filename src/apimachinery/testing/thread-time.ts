/**
 * CPU time in milliseconds that this thread has used. Tests bound the difference of two values instead of wall time, which
 * grows with the load of the machine.
 */
export function threadMilliseconds(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
