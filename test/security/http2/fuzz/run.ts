/**
 * Fuzzes HTTP/2 for a given time. The seed and number of a finding reproduce it.
 *
 *     npm run fuzz-http2 -- [--seconds 3600] [--seed N] [--only frames|hpack] [--case NUMBER]…
 */
import { parseArgs } from 'node:util';
import { describeFinding, fuzzFrames } from './frames-fuzz.ts';
import { fuzzHpack } from './hpack-fuzz.ts';
import { noGo, startTargets } from './targets.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3600' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1e9)) },
    only: { type: 'string' },
    case: { type: 'string', multiple: true },
  },
});
const seed = Number(values.seed);
const obstacle = noGo();
if (obstacle) console.log(`without Go: ${obstacle}`);
console.log(`seed ${seed}`);
let found = 0;
/** Three quarters of the time are used for frames. */
const secondsOf = (share: number): number => Number(values.seconds) * (values.only ? 1 : share);

if (values.only !== 'hpack') {
  await using stack = new AsyncDisposableStack();
  const only = values.case?.map(Number);
  const { cases, findings } = await fuzzFrames(await startTargets(stack), {
    seed,
    seconds: secondsOf(0.75),
    most: 1_000,
    ...(only && { only }),
  });
  for (const finding of findings) console.log(describeFinding(finding));
  console.log(`frames: ${cases} cases, ${findings.length} findings`);
  found += findings.length;
}
if (values.only !== 'frames') {
  const { cases, findings } = await fuzzHpack({ seed, seconds: secondsOf(0.25) });
  for (const finding of findings) console.log(finding);
  console.log(`HPACK: ${cases} cases, ${findings.length} findings`);
  found += findings.length;
}
process.exitCode = found > 0 ? 1 : 0;
