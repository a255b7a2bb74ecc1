/**
 * The own HTTP/2 beside nghttp2 and Go's: sequences of frames and header blocks, of which the outcomes agree or stand in fuzz/differences.ts with the
 * sentence of the RFC. `npm run fuzz-http2` does the same for an hour, from another seed.
 */
import { describe, expect, it } from 'vitest';
import { describeFinding, fuzzFrames } from './fuzz/frames-fuzz.ts';
import { fuzzHpack } from './fuzz/hpack-fuzz.ts';
import { mutations } from './fuzz/mutations.ts';
import { noGo, startTargets } from './fuzz/targets.ts';

/** `KUBENEST_FUZZ_SEED` is another one: a failure says which. */
const seed = Number(process.env['KUBENEST_FUZZ_SEED'] ?? 9113);
const framesSeconds = 70;
const hpackSeconds = 20;

describe(`with the seed ${seed}${noGo() ? ', without Go' : ''}`, () => {
  it('frames have the same outcome', { timeout: 300_000 }, async () => {
    await using stack = new AsyncDisposableStack();
    const { cases, findings } = await fuzzFrames(await startTargets(stack), { seed, seconds: framesSeconds });
    expect(findings.map(describeFinding)).toEqual([]);
    // Each mutation has had several turns: three of five cases are mutations that have a name.
    expect(cases).toBeGreaterThan(mutations.length * 4);
  });

  it('header blocks are read as they were meant, and malformed ones are refused', { timeout: 120_000 }, async () => {
    const { cases, findings } = await fuzzHpack({ seed, seconds: hpackSeconds });
    expect(findings).toEqual([]);
    expect(cases).toBeGreaterThan(200);
  });
});
