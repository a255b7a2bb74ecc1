import type { Steps } from './steps.ts';

/** Number of items that are sorted, or merged, between two yields. */
const stepItems = 4_096;

/** Sorts in place, if the items are not in order already, which most are. */
export function inOrder<T>(items: T[], compare: (a: T, b: T) => number): T[] {
  for (let i = 1; i < items.length; i++) {
    if (compare(items[i - 1]!, items[i]!) > 0) return items.sort(compare);
  }
  return items;
}

/** Returns the sorted items; yields to the event loop. The sort is stable. `items` may be changed. */
export function* sortedSteps<T>(items: T[], compare: (a: T, b: T) => number): Steps<T[]> {
  if (items.length <= stepItems) return inOrder(items, compare);
  let runs: T[][] = [];
  for (let from = 0; from < items.length; from += stepItems) {
    yield;
    runs.push(inOrder(items.slice(from, from + stepItems), compare));
  }
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let at = 0; at < runs.length; at += 2)
      merged.push(runs[at + 1] ? yield* mergeRunsSteps(runs[at]!, runs[at + 1]!, compare) : runs[at]!);
    runs = merged;
  }
  return runs[0]!;
}

/** Merges two sorted lists; yields to the event loop. */
export function* mergeRunsSteps<T>(a: readonly T[], b: readonly T[], compare: (a: T, b: T) => number): Steps<T[]> {
  const merged: T[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    merged.push(compare(a[i]!, b[j]!) <= 0 ? a[i++]! : b[j++]!);
    if (merged.length % stepItems === 0) yield;
  }
  while (i < a.length) merged.push(a[i++]!);
  while (j < b.length) merged.push(b[j++]!);
  return merged;
}
