/**
 * Whether two decoded values of one type are equal, where an absent field, an empty list and an empty map are the same: Go
 * cannot tell them apart once they went over the wire. Depth costs no stack. Upstream: apimachinery/pkg/api/equality, Semantic.
 */
export function semanticDeepEqual(left: unknown, right: unknown): boolean {
  const pending: unknown[] = [left, right];
  while (pending.length > 0) {
    const b = pending.pop();
    const a = pending.pop();
    if (a === b) continue;
    if (isEmpty(a)) {
      if (isEmpty(b)) continue;
      return false;
    }
    if (isEmpty(b) || typeof a !== 'object' || typeof b !== 'object') return false;
    if (Array.isArray(a)) {
      if (!Array.isArray(b) || a.length !== b.length) return false;
      for (let i = 0; i < a.length; i++) pending.push(a[i], b[i]);
      continue;
    }
    if (Array.isArray(b)) return false;
    const of = a as Record<string, unknown>;
    const other = b as Record<string, unknown>;
    for (const key of Object.keys(of)) pending.push(of[key], Object.hasOwn(other, key) ? other[key] : undefined);
    for (const key of Object.keys(other)) if (!Object.hasOwn(of, key)) pending.push(undefined, other[key]);
  }
  return true;
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (typeof value !== 'object') return false;
  if (Array.isArray(value)) return value.length === 0;
  for (const key in value) if (Object.hasOwn(value, key)) return false;
  return true;
}
