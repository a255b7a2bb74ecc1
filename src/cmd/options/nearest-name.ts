/** Returns the name with the smallest edit distance; undefined if all distances exceed a third of the word's length. */
export function nearestName(word: string, names: Iterable<string>): string | undefined {
  let nearest: string | undefined;
  let distance = Math.max(2, Math.floor(word.length / 3)) + 1;
  for (const name of names) {
    const edits = editDistance(word, name, distance);
    if (edits >= distance) continue;
    distance = edits;
    nearest = name;
  }
  return nearest;
}

/** Levenshtein distance, computed up to the limit. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}
