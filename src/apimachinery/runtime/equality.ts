/**
 * Whether two values of plain JSON (with bigints) are the same in content; the order of keys does not count, and a property that is undefined is not
 * there. Values that were decoded are in canonical form, so this is Go's semantic equality for them. Any depth.
 */
export function deepEqual(a: unknown, b: unknown): boolean {
  return equal(a, b, 0);
}

const recursionLimit = 500;

function equal(a: unknown, b: unknown, depth: number): boolean {
  if (a === b) return true;
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') return sameNumber(a, b);
  if (depth > recursionLimit) return equalDeep(a, b);
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (!equal(a[i], b[i], depth + 1)) return false;
    return true;
  }
  if (Array.isArray(b)) return false;
  let size = 0;
  for (const key in a) {
    const value = (a as Record<string, unknown>)[key];
    if (value === undefined) continue;
    size++;
    if (!Object.hasOwn(b, key) || !equal(value, (b as Record<string, unknown>)[key], depth + 1)) return false;
  }
  for (const key in b) if ((b as Record<string, unknown>)[key] !== undefined) size--;
  return size === 0;
}

/** An integer is the same as a number and as a bigint. */
function sameNumber(a: unknown, b: unknown): boolean {
  if (typeof a === 'bigint' && typeof b === 'number') return Number.isSafeInteger(b) && a === BigInt(b);
  if (typeof a === 'number' && typeof b === 'bigint') return Number.isSafeInteger(a) && BigInt(a) === b;
  return false;
}

/** `equal` with a stack of our own. */
function equalDeep(left: object, right: object): boolean {
  const pending: [unknown, unknown][] = [[left, right]];
  for (let pair = pending.pop(); pair; pair = pending.pop()) {
    const [a, b] = pair;
    if (a === b) continue;
    if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') {
      if (!sameNumber(a, b)) return false;
      continue;
    }
    if (Array.isArray(a) !== Array.isArray(b)) return false;
    const keys = definedKeys(a);
    if (keys.length !== definedKeys(b).length || (Array.isArray(a) && a.length !== (b as unknown[]).length)) return false;
    for (const key of keys) {
      if (!Object.hasOwn(b, key)) return false;
      pending.push([(a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]]);
    }
  }
  return true;
}

function definedKeys(object: object): string[] {
  return Object.keys(object).filter((key) => (object as Record<string, unknown>)[key] !== undefined);
}
