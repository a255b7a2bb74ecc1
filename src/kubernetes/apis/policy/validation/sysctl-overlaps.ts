/** Two sysctl patterns, one of which contains the other. */
export interface SysctlOverlap {
  readonly allowed: number;
  readonly denied: number;
  /** The narrower of the two, or either if they are equal. */
  readonly narrower: 'allowed' | 'forbidden';
}

const isWildcard = (pattern: string): boolean => pattern.endsWith('*');
const withoutWildcard = (pattern: string): string => (isWildcard(pattern) ? pattern.slice(0, -1) : pattern);

/**
 * Yields the overlaps of allowed and forbidden patterns, in order of the allowed ones and for each in order of the forbidden ones. Upstream
 * compares all pairs, which takes minutes for lists that fill a request body (pkg/apis/policy/validation,
 * validatePodSecurityPolicySysctlListsDoNotOverlap).
 */
export function* sysctlOverlaps(allowed: readonly string[], forbidden: readonly string[]): Generator<SysctlOverlap> {
  const names = new Map<string, number[]>();
  const prefixes = new Map<string, number[]>();
  for (const [at, pattern] of forbidden.entries()) noteAt(isWildcard(pattern) ? prefixes : names, withoutWildcard(pattern), at);
  const lengths = [...new Set([...prefixes.keys()].map(({ length }) => length))].sort((a, b) => a - b);
  const sorted = forbidden.map((pattern, at) => ({ text: withoutWildcard(pattern), at })).sort((a, b) => compare(a.text, b.text));
  for (const [at, pattern] of allowed.entries()) {
    const text = withoutWildcard(pattern);
    const narrower = new Map<number, SysctlOverlap['narrower']>();
    if (isWildcard(pattern)) {
      for (let i = firstNotBefore(sorted, text); sorted[i]?.text.startsWith(text); i++) narrower.set(sorted[i]!.at, 'forbidden');
    } else {
      for (const other of names.get(pattern) ?? []) narrower.set(other, 'allowed');
    }
    for (const length of lengths) {
      if (length > text.length) break;
      for (const other of prefixes.get(text.slice(0, length)) ?? []) narrower.set(other, 'allowed');
    }
    for (const other of [...narrower.keys()].sort((a, b) => a - b)) yield { allowed: at, denied: other, narrower: narrower.get(other)! };
  }
}

function noteAt(places: Map<string, number[]>, key: string, at: number): void {
  const before = places.get(key);
  if (before) before.push(at);
  else places.set(key, [at]);
}

const compare = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);

/** Returns the index of the first text that is not less than `text` (lower bound). */
function firstNotBefore(sorted: readonly { readonly text: string }[], text: string): number {
  let from = 0;
  let to = sorted.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (sorted[middle]!.text < text) from = middle + 1;
    else to = middle;
  }
  return from;
}
