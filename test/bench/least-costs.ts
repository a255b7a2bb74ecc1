import { slowness } from '#apimachinery/testing/slowness';
import { threadMilliseconds } from '#apimachinery/testing/thread-time';

const leastRounds = 3;
const mostRounds = 60;

/** Returns the CPU time of this thread for each of the calls, in microseconds of the machine for which the limits of the tests are. */
export async function costOfCalls(calls: number, call: () => unknown): Promise<number> {
  const began = threadMilliseconds();
  for (let i = 0; i < calls; i += 1) {
    const result = call();
    if (result instanceof Promise) await result;
  }
  return ((threadMilliseconds() - began) * 1_000) / calls / slowness();
}

/**
 * Takes measurements in turn, and returns the least value of each. Other load only adds to a cost, so that the rounds end as soon as the
 * least values satisfy the condition.
 */
export async function leastCosts<const N extends string>(
  measurements: Readonly<Record<N, () => Promise<number>>>,
  isEnough: (least: Readonly<Record<N, number>>) => boolean,
): Promise<Readonly<Record<N, number>>> {
  const names = Object.keys(measurements) as N[];
  const least = Object.fromEntries(names.map((name) => [name, Infinity])) as Record<N, number>;
  for (let round = 0; round < mostRounds && (round < leastRounds || !isEnough(least)); round += 1)
    for (const name of names) least[name] = Math.min(least[name], await measurements[name]());
  return least;
}
