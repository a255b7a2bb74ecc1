/**
 * Points at which fault tests can kill the process to simulate a power failure: `KUBENEST_FAILPOINT=after-transaction:25`
 * kills it at the 25th pass. Without the variable, a point costs one comparison.
 */
export type Failpoint =
  | 'before-transaction'
  | 'inside-transaction'
  | 'after-transaction'
  | 'before-acknowledge'
  | 'after-dispatch'
  | 'after-compact-revision'
  | 'inside-compaction'
  | 'before-checkpoint'
  | 'after-checkpoint';

const [wanted, count = '1'] = (process.env['KUBENEST_FAILPOINT'] ?? '').split(':');
let left = Number(count);

export function failpoint(name: Failpoint): void {
  if (name === wanted && --left <= 0) process.kill(process.pid, 'SIGKILL');
}
