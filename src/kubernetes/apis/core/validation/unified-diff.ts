/**
 * The unified diff of Python's difflib with three lines of context, used by messages about immutable specs. Upstream:
 * github.com/pmezard/go-difflib.
 */

const context = 3;
/** Longer texts are not compared, since that would take too long. */
export const maxLines = 5000;

type Tag = 'equal' | 'replace' | 'delete' | 'insert';
interface OpCode {
  readonly tag: Tag;
  readonly i1: number;
  readonly i2: number;
  readonly j1: number;
  readonly j2: number;
}
interface Match {
  readonly i: number;
  readonly j: number;
  readonly size: number;
}

/** Returns the positions of each line of `b`; in long texts, without lines that occur very often. */
function indexLines(b: readonly string[]): ReadonlyMap<string, readonly number[]> {
  const places = new Map<string, number[]>();
  for (const [j, line] of b.entries()) {
    const known = places.get(line);
    if (known) known.push(j);
    else places.set(line, [j]);
  }
  if (b.length >= 200) {
    const most = Math.floor(b.length / 100) + 1;
    for (const [line, at] of places) if (at.length > most) places.delete(line);
  }
  return places;
}

function longestMatch(
  a: readonly string[],
  b: readonly string[],
  places: ReadonlyMap<string, readonly number[]>,
  alo: number,
  ahi: number,
  blo: number,
  bhi: number,
): Match {
  let best: { i: number; j: number; size: number } = { i: alo, j: blo, size: 0 };
  let lengths = new Map<number, number>();
  for (let i = alo; i < ahi; i++) {
    const next = new Map<number, number>();
    for (const j of places.get(a[i]!) ?? []) {
      if (j < blo) continue;
      if (j >= bhi) break;
      const size = (lengths.get(j - 1) ?? 0) + 1;
      next.set(j, size);
      if (size > best.size) best = { i: i - size + 1, j: j - size + 1, size };
    }
    lengths = next;
  }
  while (best.i > alo && best.j > blo && a[best.i - 1] === b[best.j - 1]) best = { i: best.i - 1, j: best.j - 1, size: best.size + 1 };
  while (best.i + best.size < ahi && best.j + best.size < bhi && a[best.i + best.size] === b[best.j + best.size]) best.size++;
  return best;
}

/** Returns the common blocks of both texts in order; the last one is empty and at the end of both. */
function matchingBlocks(a: readonly string[], b: readonly string[]): Match[] {
  const places = indexLines(b);
  const found: Match[] = [];
  const open: (readonly [number, number, number, number])[] = [[0, a.length, 0, b.length]];
  for (let range = open.pop(); range; range = open.pop()) {
    const [alo, ahi, blo, bhi] = range;
    const match = longestMatch(a, b, places, alo, ahi, blo, bhi);
    if (match.size === 0) continue;
    found.push(match);
    if (alo < match.i && blo < match.j) open.push([alo, match.i, blo, match.j]);
    if (match.i + match.size < ahi && match.j + match.size < bhi) open.push([match.i + match.size, ahi, match.j + match.size, bhi]);
  }
  found.sort((x, y) => x.i - y.i);
  const merged: Match[] = [];
  for (const match of found) {
    const last = merged.at(-1);
    if (last && last.i + last.size === match.i && last.j + last.size === match.j)
      merged[merged.length - 1] = { ...last, size: last.size + match.size };
    else merged.push(match);
  }
  return [...merged, { i: a.length, j: b.length, size: 0 }];
}

function opCodes(a: readonly string[], b: readonly string[]): OpCode[] {
  const codes: OpCode[] = [];
  let i = 0;
  let j = 0;
  for (const match of matchingBlocks(a, b)) {
    const tag = i < match.i && j < match.j ? 'replace' : i < match.i ? 'delete' : j < match.j ? 'insert' : undefined;
    if (tag) codes.push({ tag, i1: i, i2: match.i, j1: j, j2: match.j });
    i = match.i + match.size;
    j = match.j + match.size;
    if (match.size > 0) codes.push({ tag: 'equal', i1: match.i, i2: i, j1: match.j, j2: j });
  }
  return codes;
}

/** Groups nearby changes with their context lines. */
function groups(codes: readonly OpCode[]): OpCode[][] {
  const all: OpCode[][] = [];
  let group: OpCode[] = [];
  for (const [at, code] of codes.entries()) {
    let { i1, i2, j1, j2 } = code;
    if (code.tag === 'equal') {
      if (at === 0) [i1, j1] = [Math.max(i1, i2 - context), Math.max(j1, j2 - context)];
      if (at === codes.length - 1) [i2, j2] = [Math.min(i2, i1 + context), Math.min(j2, j1 + context)];
      if (i2 - i1 > 2 * context) {
        all.push([...group, { tag: 'equal', i1, i2: i1 + context, j1, j2: j1 + context }]);
        group = [];
        [i1, j1] = [i2 - context, j2 - context];
      }
    }
    group.push({ tag: code.tag, i1, i2, j1, j2 });
  }
  if (group.some(({ tag }) => tag !== 'equal')) all.push(group);
  return all;
}

function rangeText(start: number, stop: number): string {
  const length = stop - start;
  if (length === 1) return String(start + 1);
  return `${length === 0 ? start : start + 1},${length}`;
}

/** Returns the diff, each line of which ends with a line feed; empty if the texts are equal (or very long). */
export function unifiedDiff(before: string, after: string): string {
  const a = before.split('\n');
  const b = after.split('\n');
  if (a.length > maxLines || b.length > maxLines) return '';
  let text = '';
  for (const group of groups(opCodes(a, b))) {
    const first = group[0]!;
    const last = group.at(-1)!;
    text += `@@ -${rangeText(first.i1, last.i2)} +${rangeText(first.j1, last.j2)} @@\n`;
    for (const { tag, i1, i2, j1, j2 } of group) {
      if (tag === 'equal') {
        for (const line of a.slice(i1, i2)) text += ` ${line}\n`;
        continue;
      }
      for (const line of a.slice(i1, i2)) text += `-${line}\n`;
      for (const line of b.slice(j1, j2)) text += `+${line}\n`;
    }
  }
  return text;
}
