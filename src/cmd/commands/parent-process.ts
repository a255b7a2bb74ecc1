/** The time within which the end of the parent is noticed. */
const checkMs = 250;

/** Ends this process as SIGTERM does when the process that started it has ended: another one is its parent then. Keeps no process alive. */
export function endWithParent(): Disposable {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, checkMs).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
