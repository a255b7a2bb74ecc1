/** Returns the value below which the given part of the values is, for instance 0.99 for the 99th percentile. 0 without values. */
export function quantileOf(quantile: number, values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * quantile)] ?? 0;
}
