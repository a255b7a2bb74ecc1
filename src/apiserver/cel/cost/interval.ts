/** Intervals of costs and sizes. Upstream uses saturating uint64 arithmetic; these numbers saturate at 2^64. */

/** Lower and upper bound. */
export interface Interval {
  readonly min: number;
  readonly max: number;
}

/** Upper bound that stands for "unbounded": upstream's largest number. */
export const unbounded = 2 ** 64;

export const zero: Interval = { min: 0, max: 0 };
/** An unknown size. */
export const unknown: Interval = { min: 0, max: unbounded };

export function fixed(value: number): Interval {
  return { min: value, max: value };
}

function saturate(value: number): number {
  return Math.min(value, unbounded);
}

export function add(a: Interval, b: Interval): Interval {
  return { min: saturate(a.min + b.min), max: saturate(a.max + b.max) };
}

export function multiply(a: Interval, b: Interval): Interval {
  return { min: saturate(a.min * b.min), max: saturate(a.max * b.max) };
}

export function scale(a: Interval, factor: number): Interval {
  return { min: saturate(Math.ceil(a.min * factor)), max: saturate(Math.ceil(a.max * factor)) };
}

/** Returns the smallest interval that contains both. */
export function union(a: Interval, b: Interval): Interval {
  return { min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) };
}

export function sum(intervals: readonly Interval[]): Interval {
  return intervals.reduce(add, zero);
}
