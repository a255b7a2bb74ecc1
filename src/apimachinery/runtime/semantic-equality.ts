/**
 * Whether two decoded values of one type are equal, where an absent field, an empty list, an empty map, and what holds
 * nothing but these are the same: once they went over the wire, most of them cannot be told apart. (Upstream tells a pointer
 * to an empty struct from none; without the type that is not possible.) Depth costs no stack. Upstream:
 * apimachinery/pkg/api/equality, Semantic.
 */
export function semanticDeepEqual(left: unknown, right: unknown): boolean {
  const pending: unknown[] = [left, right];
  while (pending.length > 0) {
    const b = pending.pop();
    const a = pending.pop();
    if (a === b) continue;
    if (isNothing(a) && isNothing(b)) continue;
    if (Array.isArray(a) || Array.isArray(b)) {
      if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
      for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) pending.push(a[i], b[i]);
      continue;
    }
    const of = membersOf(a);
    const other = membersOf(b);
    if (!of || !other) return false;
    for (const key in of) {
      const value = of[key];
      const opposite = Object.hasOwn(other, key) ? other[key] : undefined;
      if (value !== opposite) pending.push(value, opposite);
    }
    for (const key in other) if (!Object.hasOwn(of, key)) pending.push(undefined, other[key]);
  }
  return true;
}

const noMembers: Readonly<Record<string, unknown>> = Object.freeze({});

function membersOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (value === undefined || value === null) return noMembers;
  return typeof value === 'object' ? (value as Record<string, unknown>) : undefined;
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}
