/**
 * Number of line pairs up to which the shortest difference is computed; beyond it, all lines between the first and the last difference
 * count.
 */
const mostPairs = 4_000_000;

/**
 * Returns the lines of two texts: `- ` before removed ones, `+ ` before added ones, two spaces before others; empty if the texts are equal.
 */
export function lineDiff(before: string, after: string): string[] {
  if (before === after) return [];
  const a = before.split('\n');
  const b = after.split('\n');
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  const same = (lines: readonly string[]): string[] => lines.map((line) => `  ${line}`);
  return [
    ...same(a.slice(0, start)),
    ...changed(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...same(a.slice(a.length - end)),
  ];
}

function changed(a: readonly string[], b: readonly string[]): string[] {
  if (a.length * b.length > mostPairs) return [...a.map((line) => `- ${line}`), ...b.map((line) => `+ ${line}`)];
  // common[i][j]: length of the longest common subsequence of a[i..] and b[j..].
  const common = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  const at = (i: number, j: number): number => common[i]?.[j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1)
    for (let j = b.length - 1; j >= 0; j -= 1)
      (common[i] as Uint32Array)[j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const lines: string[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push(`  ${a[i]}`);
      i += 1;
      j += 1;
    } else if (i < a.length && (j >= b.length || at(i + 1, j) >= at(i, j + 1))) {
      lines.push(`- ${a[i]}`);
      i += 1;
    } else {
      lines.push(`+ ${b[j]}`);
      j += 1;
    }
  }
  return lines;
}
