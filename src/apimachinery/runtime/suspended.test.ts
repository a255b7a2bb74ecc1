import { describe, expect, it } from 'vitest';
import type { Steps } from './steps.ts';
import { callElsewhere, refusePlaceholders, settled, settledAnew, settledSteps, Suspended } from './suspended.ts';

/** Calls to a thread that returns twice a number, with the numbers that it was called with. */
function fixture() {
  const called: number[] = [];
  const twice = (value: number): number | undefined =>
    callElsewhere(
      () => [
        `twice ${value}`,
        async () => {
          called.push(value);
          return 2 * value;
        },
      ],
      0,
    );
  return { called, twice };
}

it('without a computation that can restart, nothing is called', () => {
  const { called, twice } = fixture();
  expect(twice(1)).toBeUndefined();
  expect(called).toEqual([]);
});

describe.each([
  ['settled', settled],
  ['settledAnew', settledAnew],
])('%s', (_, run) => {
  it('returns a result without calls at once', () => {
    expect(run(() => 1)).toBe(1);
  });

  it('collects the calls of one run, makes each once, and restarts with the results', async () => {
    const { called, twice } = fixture();
    let runs = 0;
    const result = run(() => {
      runs += 1;
      return [twice(1), twice(2), twice(1)];
    });
    expect(called).toEqual([1, 2]);
    expect(await result).toEqual([2, 4, 2]);
    expect([called, runs]).toEqual([[1, 2], 2]);
  });

  it('restarts for calls that depend on results', async () => {
    const { called, twice } = fixture();
    expect(await run(() => twice(twice(3) ?? 0))).toBe(12);
    expect(called).toEqual([3, 0, 6]);
  });

  it('restarts after a computation that threw for a placeholder', async () => {
    const { twice } = fixture();
    const compute = (): number => {
      const value = twice(2) ?? 0;
      if (value === 0) throw new Error('not positive');
      return value;
    };
    expect(await run(compute)).toBe(4);
  });

  it('fails with the error of a call', async () => {
    const failing = (): unknown => callElsewhere(() => ['fails', () => Promise.reject(new Error('thread gone'))], 0);
    await expect(run(failing)).rejects.toThrow('thread gone');
  });

  it('throws what the computation throws without calls', () => {
    expect(() =>
      run(() => {
        throw new Error('own');
      }),
    ).toThrow('own');
  });

  it('waits for a suspension by the computation itself', async () => {
    let isReady = false;
    const compute = (): string => {
      if (!isReady) throw new Suspended(Promise.resolve().then(() => (isReady = true)));
      return 'ready';
    };
    expect(await run(compute)).toBe('ready');
  });
});

describe('results that outlive a restart', () => {
  it.each([
    { name: 'settled', run: settled, when: undefined, keepsPlaceholder: false },
    { name: 'settledAnew', run: settledAnew, when: undefined, keepsPlaceholder: true },
    { name: 'settledAnew, always', run: settledAnew, when: 'always' as const, keepsPlaceholder: false },
  ])('$name: with a placeholder: $keepsPlaceholder', async ({ run, when, keepsPlaceholder }) => {
    const { twice } = fixture();
    const kept: unknown[] = [];
    await run(() => {
      const value = twice(4);
      refusePlaceholders(when);
      kept.push(value);
    });
    expect(kept).toEqual(keepsPlaceholder ? [0, 8] : [8]);
  });
});

it('settledSteps restarts chunked work, also if its calls are in different chunks', async () => {
  const { called, twice } = fixture();
  function* work(): Steps<unknown> {
    const first = twice(1);
    yield;
    return [first, twice(5)];
  }
  expect(await settledSteps(work)).toEqual([2, 10]);
  expect(called).toEqual([1, 5]);
});

it('a computation within another one has its own calls', async () => {
  const { twice } = fixture();
  const inner: unknown[] = [];
  const outer = settled(() => {
    inner.push(settled(() => twice(1)));
    return twice(2);
  });
  expect(await outer).toBe(4);
  expect(await Promise.all(inner)).toEqual([2, 2]);
});
