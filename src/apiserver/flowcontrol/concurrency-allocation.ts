/** Target and bounds of a priority level's allocation. */
export interface AllocationItem {
  readonly target: number;
  readonly lowerBound: number;
  readonly upperBound: number;
}

const minTarget = 0.001;
const epsilon = 1e-7;

/**
 * Allocates seats so that each item gets the same proportion of its target, within its bounds. Throws if the bounds do not
 * allow exactly `sum` seats. Upstream: apiserver/pkg/util/flowcontrol/conc_alloc.go.
 */
export function allocateConcurrency(
  sum: number,
  items: readonly AllocationItem[],
): { readonly seats: readonly number[]; readonly fairFraction: number } {
  const bounded = items.map(({ target, lowerBound, upperBound }) => ({ target: Math.max(target, minTarget), lowerBound, upperBound }));
  const allocated = (proportion: number): number[] =>
    bounded.map(({ target, lowerBound, upperBound }) => Math.max(lowerBound, Math.min(upperBound, proportion * target)));
  const total = (seats: readonly number[]): number => seats.reduce((all, one) => all + one, 0);
  const lowest = total(bounded.map(({ lowerBound }) => lowerBound));
  const highest = total(bounded.map(({ upperBound }) => upperBound));
  if (lowest - sum > epsilon) throw new Error(`lower bounds sum to ${lowest}, which is higher than the required sum of ${sum}`);
  if (sum - highest > epsilon) throw new Error(`upper bounds sum to ${highest}, which is lower than the required sum of ${sum}`);
  if (sum === 0) return { seats: items.map(() => 0), fairFraction: 0 };

  // The sum increases with the proportion, and is linear between the proportions at which an item reaches one of its bounds.
  const bounds = bounded.flatMap(({ target, lowerBound, upperBound }) => [lowerBound / target, upperBound / target]).sort((a, b) => a - b);
  let from = bounds[0] as number;
  for (const to of bounds) {
    const below = total(allocated(from));
    const above = total(allocated(to));
    if (above >= sum - epsilon) {
      const fairFraction = above - below > epsilon ? from + ((to - from) * (sum - below)) / (above - below) : to;
      return { seats: allocated(fairFraction), fairFraction };
    }
    from = to;
  }
  return { seats: allocated(from), fairFraction: from };
}
