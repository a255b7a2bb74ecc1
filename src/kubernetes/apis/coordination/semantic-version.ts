/** A version of semver 2.0.0 without its build metadata. */
export interface SemanticVersion {
  readonly numbers: readonly bigint[];
  /** Pre-release identifiers, after the dash. */
  readonly pre: readonly string[];
}
/** The version that an unparsable text counts as. */
export const zeroVersion: SemanticVersion = { numbers: [0n, 0n, 0n], pre: [] };

/** Parses a version (semver 2.0.0, clauses 9-11). Returns undefined for malformed input. */
export function parseVersion(text: string): SemanticVersion | undefined {
  const match =
    /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/.exec(
      text,
    );
  if (!match) return undefined;
  const pre = match[4]?.split('.') ?? [];
  if (pre.some((identifier) => /^0\d+$/.test(identifier))) return undefined;
  return { numbers: [match[1], match[2], match[3]].map((number) => BigInt(number ?? 0)), pre };
}

/** Compares two versions. Build metadata is ignored; a pre-release precedes its release. */
export function compareVersions(a: SemanticVersion, b: SemanticVersion): number {
  for (const [i, number] of a.numbers.entries()) {
    const other = b.numbers[i] ?? 0n;
    if (number !== other) return number < other ? -1 : 1;
  }
  if (a.pre.length === 0 || b.pre.length === 0) return b.pre.length - a.pre.length;
  for (const [i, identifier] of a.pre.entries()) {
    const other = b.pre[i];
    if (other === undefined) return 1;
    const order = compareIdentifiers(identifier, other);
    if (order !== 0) return order;
  }
  return a.pre.length - b.pre.length;
}

/** Compares identifiers: numbers by value, and before words. */
function compareIdentifiers(a: string, b: string): number {
  const numeric = [a, b].map((identifier) => /^\d+$/.test(identifier));
  if (numeric[0] !== numeric[1]) return numeric[0] ? -1 : 1;
  if (a === b) return 0;
  return (numeric[0] ? BigInt(a) < BigInt(b) : a < b) ? -1 : 1;
}
