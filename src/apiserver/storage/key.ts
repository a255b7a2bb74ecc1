import { InvalidKeyError } from './errors.ts';

/**
 * Rejects a key that could escape its prefix (path traversal, CVE-2022-3162): a key starts with `/` and has no segment that
 * is empty, `.` or `..`, no NUL and no lone surrogate (which UTF-8 encodes like U+FFFD). Throws InvalidKeyError.
 */
export function validateKey(key: string): void {
  if (!key.startsWith('/') || key.endsWith('/') || hasBadSegment(key)) throw new InvalidKeyError(key);
}

/**
 * Validates the prefix of a list or a watch like `validateKey`, except that it must end with `/`. `/` alone selects all
 * keys.
 */
export function validatePrefix(prefix: string): void {
  if (prefix === '/') return;
  if (!prefix.startsWith('/') || !prefix.endsWith('/') || hasBadSegment(prefix)) throw new InvalidKeyError(prefix);
}

function hasBadSegment(key: string): boolean {
  return (
    key.includes('//') ||
    key.includes('/./') ||
    key.includes('/../') ||
    key.endsWith('/.') ||
    key.endsWith('/..') ||
    key.includes('\0') ||
    !key.isWellFormed()
  );
}

/**
 * Characters whose UTF-16 order differs from their UTF-8 order: surrogates, and the characters above them in the Basic
 * Multilingual Plane.
 */
const beyondSurrogates = /[\ud800-\uffff]/;

/** True if the order of `compareKeys` between this key and another may differ from that of `<`. */
export function hasUncommonOrder(key: string): boolean {
  return beyondSurrogates.test(key);
}

/** Compares keys by their UTF-8 bytes, which is the order of their code points. */
export function compareKeys(a: string, b: string): number {
  if (a === b) return 0;
  if (beyondSurrogates.test(a) && beyondSurrogates.test(b)) return compareCodePoints(a, b);
  return a < b ? -1 : 1;
}

/** At the first difference, a surrogate (part of a code point of 0x10000 or more) sorts above every other code unit. */
function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    const isSurrogateX = x >= 0xd800 && x <= 0xdfff;
    const isSurrogateY = y >= 0xd800 && y <= 0xdfff;
    return isSurrogateX === isSurrogateY ? x - y : isSurrogateX ? 1 : -1;
  }
  return a.length - b.length;
}

/**
 * Returns the first index of a sorted array whose key is not less than `key`. `uncommon` is true if `hasUncommonOrder` holds
 * for any key of the array; otherwise `<` gives the same order.
 */
export function lowerBound(items: readonly { readonly key: string }[], key: string, uncommon: boolean): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const present = items[middle]!.key;
    if (uncommon ? compareKeys(present, key) < 0 : present < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
