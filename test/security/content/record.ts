/**
 * Records the costs of the cases on kube-apiserver and the small cases that it answers with an error, and prints them. The
 * server must be freshly started:
 *     node --conditions=kubenest-source --experimental-transform-types test/security/content/record.ts --url URL --pid PID
 *     --token TOKEN
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { costly, odd } from './cases.ts';
import { ask, calibrate, measure, prepare } from './measure.ts';

export interface Recorded {
  /** CPU time of `calibrate` on the recording machine. */
  readonly calibrationMs: number;
  /** Status and CPU time in milliseconds by case. */
  readonly costly: Readonly<Record<string, readonly [status: number, processorMs: number]>>;
  /** Small cases with a status of 500 or more. */
  readonly failing: readonly string[];
}

if (import.meta.filename === process.argv[1]) {
  const { values } = parseArgs({ options: { url: { type: 'string' }, pid: { type: 'string' }, token: { type: 'string' } } });
  const target = { url: values.url!, pid: Number(values.pid), token: values.token! };
  await prepare(target);
  const costs: Record<string, readonly [number, number]> = {};
  for (const one of costly) {
    const { status, processorMs } = await measure(target, one);
    costs[one.name] = [status, processorMs];
    console.log(String(status), String(processorMs).padStart(7), one.name);
  }
  const failing: string[] = [];
  for (const { name, request } of odd) if ((await ask(target, request)).status >= 500) failing.push(name);
  write({ calibrationMs: calibrate(), costly: costs, failing });
}

function write({ calibrationMs, costly: costs, failing }: Recorded): void {
  const costLines = Object.entries(costs).map(([name, cost]) => `${JSON.stringify(name)}: ${JSON.stringify(cost)}`);
  const failingLines = failing.map((name) => JSON.stringify(name));
  const text = `{\n"calibrationMs": ${calibrationMs},\n"costly": {\n${costLines.join(',\n')}\n},\n"failing": [\n${failingLines.join(',\n')}\n]\n}\n`;
  writeFileSync(new URL('./kube-apiserver.expected.json', import.meta.url), text);
}
