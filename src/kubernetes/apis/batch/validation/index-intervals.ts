/** Index sets in text form: `1,3-5,7`, ascending. Upstream: validateIndexesFormat in pkg/apis/batch/validation. */
import { quote } from '#apimachinery/runtime/quote';

type Interval = readonly [first: number, last: number];

function parseIndex(text: string, completions: number): number | string {
  if (!/^[+-]?\d+$/.test(text) || !Number.isSafeInteger(Number(text))) return `cannot convert string to integer for index: ${quote(text)}`;
  const index = Number(text);
  return index >= completions ? `too large index: ${quote(text)}` : index;
}

/** Returns the ends of `3-5` or `3`, both below `completions`; or an error text. */
function parseInterval(text: string, completions: number): Interval | string {
  const limits = text.split('-');
  if (limits.length > 2)
    return `the fragment ${quote(text)} violates the requirement that an index interval can have at most two parts separated by '-'`;
  const first = parseIndex(limits[0]!, completions);
  if (typeof first === 'string') return first;
  if (limits.length === 1) return [first, first];
  const last = parseIndex(limits[1]!, completions);
  if (typeof last === 'string') return last;
  return first >= last ? `non-increasing order, previous: ${first}, current: ${last}` : [first, last];
}

/** Returns the number of indexes in the text; or an error text. */
export function countIndexes(text: string, completions: number): number | string {
  if (text === '') return 0;
  let previous: number | undefined;
  let total = 0;
  for (const part of text.split(',')) {
    const interval = parseInterval(part, completions);
    if (typeof interval === 'string') return interval;
    const [first, last] = interval;
    if (previous !== undefined && previous >= first) return `non-increasing order, previous: ${previous}, current: ${first}`;
    total += last - first + 1;
    previous = last;
  }
  return total;
}

/** Returns the first index that is in both sets. Unparsable texts are skipped. */
export function firstOverlap(completed: string, failed: string, completions: number): number | undefined {
  if (completed === '' || failed === '') return undefined;
  const parse = (text: string) =>
    text
      .split(',')
      .map((part) => parseInterval(part, completions))
      .filter((interval) => typeof interval !== 'string');
  const [a, b] = [parse(completed), parse(failed)];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const [firstA, lastA] = a[i]!;
    const [firstB, lastB] = b[j]!;
    if (firstA <= lastB && firstB <= lastA) return Math.max(firstA, firstB);
    if (firstA <= firstB) i++;
    else j++;
  }
  return undefined;
}
