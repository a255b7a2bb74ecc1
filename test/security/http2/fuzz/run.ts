/**
 * Fuzzes HTTP/2 for as long as it is told to.
 *
 *     npm run fuzz-http2 -- [--seconds 3600] [--seed N] [--only frames|hpack] [--case NUMBER]…
 */
import { parseArgs } from 'node:util';
import { describeFinding, fuzzFrames } from './frames-fuzz.ts';
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
const seconds = Number(values.seconds);
const obstacle = noGo();
if (obstacle) console.log(`without Go: ${obstacle}`);
console.log(`seed ${seed}`);
await using stack = new AsyncDisposableStack();
const targets = await startTargets(stack);
const only = values.case?.map(Number);
const { cases, findings } = await fuzzFrames(targets, { seed, seconds, most: 1_000, ...(only && { only }) });
for (const finding of findings) console.log(describeFinding(finding));
console.log(`frames: ${cases} cases, ${findings.length} findings`);
process.exitCode = findings.length > 0 ? 1 : 0;
