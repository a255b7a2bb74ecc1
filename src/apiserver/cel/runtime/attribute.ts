/**
 * Chains of selections and indices: `a.b[c].?d`. A chain is compiled as a unit, like upstream's attributes, because costs
 * and optionals depend on the whole chain. Upstream: cel-go interpreter/attributes.go.
 */
import { display, toText } from './format.ts';
import type { Evaluate, Frame } from './frame.ts';
import { CelError, CelList, CelMap, Double, isInt, Optional, typeOf, Uint, type Value } from './values.ts';

/** One link of a chain. */
export interface Qualifier {
  /** The key, if it is constant. */
  readonly constant: Value | undefined;
  readonly key: Evaluate;
  readonly optional: boolean;
}

/** A chain: its root and its qualifiers. */
export interface Attribute {
  readonly base: Evaluate;
  readonly qualifiers: readonly Qualifier[];
  /** Cost of the chain as a whole; zero for a conditional, whose branches are charged separately. */
  readonly cost: number;
}

/** Evaluates a chain without charging its cost. */
export function resolver(attribute: Attribute): Evaluate {
  const { base, qualifiers } = attribute;
  if (qualifiers.length === 0) return base;
  if (qualifiers.every(({ optional }) => !optional)) return (frame) => resolvePlain(frame, base(frame), qualifiers, 0);
  return (frame) => resolveOptional(frame, base(frame), qualifiers, 0);
}

function resolvePlain(frame: Frame, base: Value, qualifiers: readonly Qualifier[], from: number): Value {
  let value = base;
  if (value instanceof CelError) return value;
  if (value instanceof Optional) return resolveOptional(frame, value, qualifiers, from);
  for (let i = from; i < qualifiers.length; i++) {
    const { constant, key } = qualifiers[i]!;
    frame.charge(1);
    value = constant === undefined ? qualifyBy(value, key(frame)) : qualify(value, constant);
    if (value instanceof CelError) return value;
  }
  return value;
}

function resolveOptional(frame: Frame, base: Value, qualifiers: readonly Qualifier[], from: number): Value {
  let value: Value = base;
  if (value instanceof CelError) return value;
  let optional = value instanceof Optional;
  if (value instanceof Optional) {
    if (value.value === undefined) return value;
    value = value.value;
  }
  for (let i = from; i < qualifiers.length; i++) {
    const qualifier = qualifiers[i]!;
    optional ||= qualifier.optional;
    const key = qualifier.constant ?? qualifier.key(frame);
    const found = optional ? qualifyIfPresent(value, key) : qualifyBy(value, key);
    if (found === undefined) return Optional.none;
    frame.charge(1);
    if (found instanceof CelError) return found;
    value = found;
  }
  return optional ? new Optional(value) : value;
}

/** Tests whether the last link of a chain exists. */
export function presenceTest(attribute: Attribute): Evaluate {
  const qualifiers = attribute.qualifiers.slice(0, -1);
  const last = attribute.qualifiers.at(-1)!.constant!;
  const hasOptional = qualifiers.some(({ optional }) => optional);
  return (frame) => {
    const base = attribute.base(frame);
    const optional = hasOptional || base instanceof Optional;
    const operand = optional ? resolveOptional(frame, base, qualifiers, 0) : resolvePlain(frame, base, qualifiers, 0);
    if (operand instanceof CelError) return operand;
    const value = optional && operand instanceof Optional ? operand.value : operand;
    if (value === undefined) return false;
    frame.charge(1);
    const found = qualifyIfPresent(value, last);
    return found instanceof CelError ? found : found !== undefined;
  };
}

/** Applies a computed key, which can be of any type. */
function qualifyBy(value: Value, key: Value): Value {
  return key instanceof CelError ? key : isKey(key) ? qualify(value, key) : invalidQualifier(key);
}

function isKey(key: Value): boolean {
  return typeof key === 'string' || typeof key === 'boolean' || isInt(key) || key instanceof Double || key instanceof Uint;
}

function invalidQualifier(key: Value): CelError {
  return new CelError(`invalid qualifier type: ${display(key)}`);
}

function qualify(value: Value, key: Value): Value {
  const isList = value instanceof CelList;
  // The found value may be null.
  const found = isList ? element(value, key) : value instanceof CelMap ? value.find(key) : undefined;
  if (found !== undefined) return found;
  return isList ? new CelError(`index out of bounds: ${display(key)}`) : noSuchKey(key);
}

function qualifyIfPresent(value: Value, key: Value): Value | undefined {
  if (key instanceof CelError) return key;
  if (!isKey(key)) return invalidQualifier(key);
  if (value instanceof CelMap) return value.find(key);
  return value instanceof CelList ? element(value, key) : undefined;
}

function element(list: CelList, key: Value): Value | undefined {
  const index = listIndex(key);
  if (index instanceof CelError) return index;
  return index >= 0 && index < list.size ? list.get(index) : undefined;
}

function noSuchKey(key: Value): CelError {
  return new CelError(`no such key: ${display(key)}`);
}

/** Converts a value to a list index; doubles and uints must be integers. */
function listIndex(index: Value): number | CelError {
  if (isInt(index)) return Number(index);
  const number = index instanceof Double ? index.value : index instanceof Uint ? Number(index.value) : undefined;
  if (number === undefined) return new CelError(`unsupported index type '${typeOf(index).name}' in list`);
  return Number.isSafeInteger(number) ? number : new CelError(`unsupported index value ${toText(index)} in list`);
}
