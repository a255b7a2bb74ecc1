import { deepEqual, deepEqualSteps } from './equality.ts';
import { isContainer, isSameNumber } from './numbers.ts';
import { keysOf } from './wide-objects.ts';
import type { ScalarKind, Type } from './schema.ts';
import type { Steps } from './steps.ts';

/**
 * True if two decoded values of one type are semantically equal. Without the type, an absent field, an empty list, an empty map, and an
 * object with only such members are equal. With it, they have Go's values: an absent field is its zero value (`serviceName` is `""`), but a
 * pointer to a zero value differs from nil (`seLinuxOptions: {}`). Not recursive. Upstream: apimachinery/pkg/api/equality, Semantic.
 */
export function semanticDeepEqual(left: unknown, right: unknown, type?: Type): boolean {
  return type ? equalAs(type, left, right) : equalUntyped(left, right);
}

/**
 * True if two decoded values of a type have equal Go values: unlike in `semanticDeepEqual`, nil differs from an empty list or map.
 * Upstream: reflect.DeepEqual.
 */
export function exactDeepEqual(left: unknown, right: unknown, type?: Type): boolean {
  return type ? equalAs(type, left, right, true) : deepEqual(left, right);
}

/** Like `semanticDeepEqual` for large values; yields to the event loop. */
export function* semanticDeepEqualSteps(left: unknown, right: unknown, type?: Type): Steps<boolean> {
  return type ? yield* equalAsSteps(type, left, right, false) : equalUntyped(left, right);
}

/** Like `exactDeepEqual` for large values; yields to the event loop. */
export function* exactDeepEqualSteps(left: unknown, right: unknown, type?: Type): Steps<boolean> {
  return type ? yield* equalAsSteps(type, left, right, true) : yield* deepEqualSteps(left, right);
}

function equalUntyped(left: unknown, right: unknown): boolean {
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
    if (!of || !other) {
      if (!isSameNumber(a, b)) return false;
      continue;
    }
    for (const key of keysOf(of)) {
      const value = of[key];
      const opposite = Object.hasOwn(other, key) ? other[key] : undefined;
      if (value !== opposite) pending.push(value, opposite);
    }
    for (const key of keysOf(other)) if (!Object.hasOwn(of, key)) pending.push(undefined, other[key]);
  }
  return true;
}

const noMembers: Readonly<Record<string, unknown>> = Object.freeze({});

function membersOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (value === undefined || value === null) return noMembers;
  return isContainer(value) ? (value as Record<string, unknown>) : undefined;
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

interface Compared {
  readonly type: Type;
  readonly isPointer: boolean;
  readonly a: unknown;
  readonly b: unknown;
}

function equalAs(type: Type, left: unknown, right: unknown, isExact = false): boolean {
  // Fast path: most equal values have equal JSON.
  if (deepEqual(left, right)) return true;
  const pending: Compared[] = [{ type, isPointer: false, a: left, b: right }];
  for (let pair = pending.pop(); pair; pair = pending.pop()) if (!isSame(pair, pending, isExact)) return false;
  return true;
}

const valuesPerStep = 1_024;

function* equalAsSteps(type: Type, left: unknown, right: unknown, isExact: boolean): Steps<boolean> {
  if (yield* deepEqualSteps(left, right)) return true;
  const pending: Compared[] = [{ type, isPointer: false, a: left, b: right }];
  let compared = 0;
  for (let pair = pending.pop(); pair; pair = pending.pop()) {
    if (++compared % valuesPerStep === 0) yield;
    if (!isSame(pair, pending, isExact)) return false;
  }
  return true;
}

/** Compares two values, except nested ones that are no scalars, which are added to `pending`. */
function isSame({ type, isPointer, a, b }: Compared, pending: Compared[], isExact: boolean): boolean {
  if (a === b) return true;
  const hasNil = isPointer || (isExact && isNillable(type));
  if (hasNil && isAbsent(a) !== isAbsent(b)) return false;
  switch (type.kind) {
    case 'scalar':
      return deepEqual(a ?? zeros[type.scalar], b ?? zeros[type.scalar]);
    case 'raw':
      return deepEqual(a, b);
    case 'list': {
      const of = (a ?? []) as readonly unknown[];
      const other = (b ?? []) as readonly unknown[];
      if (of.length !== other.length) return false;
      for (let i = 0; i < of.length; i++) if (!isSameMember(type.items, of[i], other[i], pending)) return false;
      return true;
    }
    case 'map': {
      const of = membersOf(a)!;
      const other = membersOf(b)!;
      const keys = keysOf(of).filter((key) => of[key] !== undefined);
      for (const key of keys) {
        if (!Object.hasOwn(other, key)) return false;
        if (!isSameMember(type.values, of[key], other[key], pending)) return false;
      }
      return keys.length === keysOf(other).filter((key) => other[key] !== undefined).length;
    }
    case 'struct': {
      const of = membersOf(a)!;
      const other = membersOf(b)!;
      for (const name of new Set([...keysOf(of), ...keysOf(other)])) {
        const field = type.fields.get(name);
        if (field) pending.push({ type: field.type, isPointer: field.ptr, a: of[name], b: other[name] });
        else if (!deepEqual(of[name], other[name])) return false;
      }
      return true;
    }
  }
}

/** Compares scalar members of a list or map at once, since there may be many. */
function isSameMember(type: Type, a: unknown, b: unknown, pending: Compared[]): boolean {
  if (type.kind === 'scalar') return a === b || deepEqual(a ?? zeros[type.scalar], b ?? zeros[type.scalar]);
  pending.push({ type, isPointer: false, a, b });
  return true;
}

/** True if nil and an empty value of the type are two Go values. */
const isNillable = ({ kind }: Type): boolean => kind === 'list' || kind === 'map';

const isAbsent = (value: unknown): boolean => value === undefined || value === null;

/** Zero values of absent scalars; a time has none. */
const zeros: Partial<Readonly<Record<ScalarKind, unknown>>> = {
  string: '',
  bytes: '',
  boolean: false,
  int32: 0,
  int64: 0,
  float64: 0,
  quantity: '0',
  intOrString: 0,
};
