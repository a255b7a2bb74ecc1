const levels = ['alpha', 'beta', ''];

/** Parses `v2beta3` to [2, 1, 3]: major version, stability, and the number after it; undefined for other texts. */
function parse(version: string): readonly [number, number, number] | undefined {
  const match = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/.exec(version);
  return match ? [Number(match[1]), levels.indexOf(match[2] ?? ''), Number(match[3] ?? 0)] : undefined;
}

/**
 * Compares versions of a group in descending preference: `v10, v2, v1, v11beta2, v10beta3, v3beta1, v12alpha1`, then others by
 * name. Negative if `a` is preferred. Upstream: apimachinery/pkg/version/helpers.go, CompareKubeAwareVersionStrings.
 */
export function compareKubeAwareVersions(a: string, b: string): number {
  if (a === b) return 0;
  const left = parse(a);
  const right = parse(b);
  if (!left || !right) return left ? -1 : right ? 1 : a < b ? -1 : 1;
  return right[1] - left[1] || right[0] - left[0] || right[2] - left[2];
}
