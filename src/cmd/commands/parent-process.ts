/** Interval of checks whether the parent has ended. */
const checkMs = 250;

/**
 * Ends this process as SIGTERM does once its parent has ended, which changes its parent process ID. The timer does not keep the process
 * alive.
 */
export function endWithParent(): Disposable {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, checkMs).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
