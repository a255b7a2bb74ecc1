/**
 * Where the fault tests may end the process, as a power failure would: `KUBENEST_FAILPOINT=after-transaction:25` kills it
 * when it comes to that point for the 25th time. Without the variable a point costs one comparison.
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
