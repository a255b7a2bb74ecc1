/** The functions of the language itself. Upstream: cel-go common/stdlib/standard.go. */
import { func, type FunctionDeclaration, global, member, type Overload } from '../check/declarations.ts';
import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  dynType,
  intType,
  listType,
  mapType,
  stringType,
  timestampType,
  typeOfType,
  typeParam,
  uintType,
} from '../check/types.ts';
import {
  addInt,
  checkedInt,
  checkedUint,
  divideInt,
  divideUint,
  doubleToInt,
  doubleToUint,
  moduloInt,
  moduloUint,
  multiplyInt,
  negateInt,
  subtractInt,
} from '../runtime/arithmetic.ts';
import { compare, equal } from '../runtime/equality.ts';
import { toText } from '../runtime/format.ts';
import { matchText } from '../runtime/regex.ts';
import {
  addDurations,
  addToTimestamp,
  durationSeconds,
  parseGoDuration,
  parseRfc3339,
  subtractDurations,
  subtractTimestamps,
  type TimestampPart,
  timestampOfSeconds,
  timestampPart,
} from '../runtime/time.ts';
import {
  CelError,
  CelList,
  CelMap,
  Double,
  type Duration,
  type Int,
  matchesType,
  noSuchOverload,
  textSize,
  type Timestamp,
  typeOf,
  type Uint,
  type Value,
} from '../runtime/values.ts';
import { operators } from '../syntax/ast.ts';

const a = typeParam('A');
const b = typeParam('B');
const listOfA = listType(a);
const mapOfAB = mapType(a, b);

/** Declares a function whose overloads share one implementation. */
function shared(name: string, run: NonNullable<Overload['run']>, ...overloads: readonly Overload[]): FunctionDeclaration {
  return { name, overloads, run };
}

/** Functions that the planner evaluates itself, because they do not evaluate all of their arguments. */
const special: readonly FunctionDeclaration[] = [
  func(operators.conditional, global('conditional', [boolType, a, a], a)),
  func(operators.logicalAnd, global('logical_and', [boolType, boolType], boolType)),
  func(operators.logicalOr, global('logical_or', [boolType, boolType], boolType)),
  func(operators.notStrictlyFalse, global('not_strictly_false', [boolType], boolType)),
  func(operators.equals, global('equals', [a, a], boolType)),
  func(operators.notEquals, global('not_equals', [a, a], boolType)),
  func(operators.index, global('index_list', [listOfA, intType], a), global('index_map', [mapOfAB, a], b)),
];

const logicalNot = func(
  operators.logicalNot,
  global('logical_not', [boolType], boolType, (value: boolean) => !value),
);

/** Declares an operator; an operand of an unsupported type is a "no such overload" error. */
function operator(name: string, ...overloads: readonly Overload[]): FunctionDeclaration {
  const dispatch = (...args: Value[]): Value => {
    const overload = overloads.find((candidate) => candidate.args.every((type, index) => matchesType(type, args[index]!)));
    return overload ? overload.run!(...args) : noSuchOverload();
  };
  return { name, overloads, run: dispatch };
}

function concatBytes(x: Uint8Array, y: Uint8Array): Uint8Array {
  return Buffer.concat([x, y]);
}

const arithmetic: readonly FunctionDeclaration[] = [
  operator(
    operators.add,
    global('add_bytes', [bytesType, bytesType], bytesType, concatBytes),
    global('add_double', [doubleType, doubleType], doubleType, (x: Double, y: Double) => new Double(x.value + y.value)),
    global('add_duration_duration', [durationType, durationType], durationType, addDurations),
    global('add_duration_timestamp', [durationType, timestampType], timestampType, (x: Duration, y: Timestamp) =>
      addToTimestamp(y, x.nanos),
    ),
    global('add_timestamp_duration', [timestampType, durationType], timestampType, (x: Timestamp, y: Duration) =>
      addToTimestamp(x, y.nanos),
    ),
    global('add_int64', [intType, intType], intType, addInt),
    global('add_list', [listOfA, listOfA], listOfA, (x: CelList, y: CelList) => x.concat(y)),
    global('add_string', [stringType, stringType], stringType, (x: string, y: string) => x + y),
    global('add_uint64', [uintType, uintType], uintType, (x: Uint, y: Uint) => checkedUint(x.value + y.value)),
  ),
  operator(
    operators.divide,
    global('divide_double', [doubleType, doubleType], doubleType, (x: Double, y: Double) => new Double(x.value / y.value)),
    global('divide_int64', [intType, intType], intType, divideInt),
    global('divide_uint64', [uintType, uintType], uintType, divideUint),
  ),
  operator(
    operators.modulo,
    global('modulo_int64', [intType, intType], intType, moduloInt),
    global('modulo_uint64', [uintType, uintType], uintType, moduloUint),
  ),
  operator(
    operators.multiply,
    global('multiply_double', [doubleType, doubleType], doubleType, (x: Double, y: Double) => new Double(x.value * y.value)),
    global('multiply_int64', [intType, intType], intType, multiplyInt),
    global('multiply_uint64', [uintType, uintType], uintType, (x: Uint, y: Uint) => checkedUint(x.value * y.value)),
  ),
  operator(
    operators.negate,
    global('negate_double', [doubleType], doubleType, (x: Double) => new Double(-x.value)),
    global('negate_int64', [intType], intType, negateInt),
  ),
  operator(
    operators.subtract,
    global('subtract_double', [doubleType, doubleType], doubleType, (x: Double, y: Double) => new Double(x.value - y.value)),
    global('subtract_duration_duration', [durationType, durationType], durationType, subtractDurations),
    global('subtract_int64', [intType, intType], intType, subtractInt),
    global('subtract_timestamp_duration', [timestampType, durationType], timestampType, (x: Timestamp, y: Duration) =>
      addToTimestamp(x, -y.nanos),
    ),
    global('subtract_timestamp_timestamp', [timestampType, timestampType], durationType, subtractTimestamps),
    global('subtract_uint64', [uintType, uintType], uintType, (x: Uint, y: Uint) => checkedUint(x.value - y.value)),
  ),
];

const ordered: readonly (readonly [string, CelType, CelType])[] = [
  ['bool', boolType, boolType],
  ['int64', intType, intType],
  ['int64_double', intType, doubleType],
  ['int64_uint64', intType, uintType],
  ['uint64', uintType, uintType],
  ['uint64_double', uintType, doubleType],
  ['uint64_int64', uintType, intType],
  ['double', doubleType, doubleType],
  ['double_int64', doubleType, intType],
  ['double_uint64', doubleType, uintType],
  ['string', stringType, stringType],
  ['bytes', bytesType, bytesType],
  ['timestamp', timestampType, timestampType],
  ['duration', durationType, durationType],
];

function comparison(operator: string, prefix: string, holds: (order: number) => boolean): FunctionDeclaration {
  const overloads = ordered.map(([suffix, x, y]) => global(`${prefix}_${suffix}`, [x, y], boolType));
  return shared(
    operator,
    (x, y) => {
      const order = compare(x, y);
      return typeof order === 'number' ? holds(order) : order;
    },
    ...overloads,
  );
}

const comparisons: readonly FunctionDeclaration[] = [
  comparison(operators.less, 'less', (order) => order < 0),
  comparison(operators.lessEquals, 'less_equals', (order) => order <= 0),
  comparison(operators.greater, 'greater', (order) => order > 0),
  comparison(operators.greaterEquals, 'greater_equals', (order) => order >= 0),
];

/** Evaluates `element in container`. */
export function isIn(element: Value, container: Value): Value {
  if (container instanceof CelMap) {
    const found = container.find(element);
    return found instanceof CelError ? found : found !== undefined;
  }
  if (!(container instanceof CelList)) return noSuchOverload();
  for (let i = 0; i < container.size; i++) if (equal(element, container.get(i)) === true) return true;
  return false;
}

const membership = shared(operators.in, isIn, global('in_list', [a, listOfA], boolType), global('in_map', [a, mapOfAB], boolType));

/** Evaluates `size(value)`. */
export function sizeOf(value: Value): Value {
  if (typeof value === 'string') return textSize(value);
  if (value instanceof CelList || value instanceof CelMap) return value.size;
  return value instanceof Uint8Array ? value.length : new CelError('no such overload: size');
}

const size = shared(
  'size',
  sizeOf,
  global('size_bytes', [bytesType], intType),
  member('bytes_size', [bytesType], intType),
  global('size_list', [listOfA], intType),
  member('list_size', [listOfA], intType),
  global('size_map', [mapOfAB], intType),
  member('map_size', [mapOfAB], intType),
  global('size_string', [stringType], intType),
  member('string_size', [stringType], intType),
);

const identity = (value: Value): Value => value;

function conversionError(value: Value, to: string): CelError {
  return new CelError(`type conversion error from '${typeOf(value)}' to '${to}'`);
}

const trueTexts = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);
const falseTexts = new Set(['0', 'f', 'F', 'FALSE', 'false', 'False']);

function textToBool(text: string): Value {
  if (trueTexts.has(text)) return true;
  return falseTexts.has(text) ? false : conversionError(text, 'bool');
}

function textToDouble(text: string): Value {
  const special = /^([+-]?)(?:inf|infinity)$/i.exec(text);
  if (special) return new Double(special[1] === '-' ? -Infinity : Infinity);
  if (/^nan$/i.test(text)) return new Double(Number.NaN);
  if (!/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(text)) return conversionError(text, 'double');
  const value = Number(text);
  return Number.isFinite(value) ? new Double(value) : conversionError(text, 'double');
}

/** Maximum length of an integer's text; longer texts exceed 64 bits and would be expensive to convert. */
const maxDigits = 1000;

function textToInt(text: string): Value {
  const value = /^[+-]?\d+$/.test(text) && text.length < maxDigits ? checkedInt(BigInt(text.replace('+', ''))) : undefined;
  return value === undefined || value instanceof CelError ? conversionError(text, 'int') : value;
}

function textToUint(text: string): Value {
  const value = /^\d+$/.test(text) && text.length < maxDigits ? checkedUint(BigInt(text)) : undefined;
  return value === undefined || value instanceof CelError ? conversionError(text, 'uint') : value;
}

const conversions: readonly FunctionDeclaration[] = [
  shared('type', typeOf, global('type', [a], typeOfType(a))),
  shared('dyn', identity, global('to_dyn', [a], dynType)),
  func('bool', global('bool_to_bool', [boolType], boolType, identity), global('string_to_bool', [stringType], boolType, textToBool)),
  func(
    'bytes',
    global('bytes_to_bytes', [bytesType], bytesType, identity),
    global('string_to_bytes', [stringType], bytesType, (text: string) => Buffer.from(text)),
  ),
  func(
    'double',
    global('double_to_double', [doubleType], doubleType, identity),
    global('int64_to_double', [intType], doubleType, (value: Int) => new Double(Number(value))),
    global('string_to_double', [stringType], doubleType, textToDouble),
    global('uint64_to_double', [uintType], doubleType, ({ value }: Uint) => new Double(Number(value))),
  ),
  func(
    'duration',
    global('duration_to_duration', [durationType], durationType, identity),
    global('int64_to_duration', [intType], durationType, (value: Int) => conversionError(value, durationType.name)),
    global(
      'string_to_duration',
      [stringType],
      durationType,
      (text: string) => parseGoDuration(text) ?? conversionError(text, durationType.name),
    ),
  ),
  func(
    'int',
    global('int64_to_int64', [intType], intType, identity),
    global('double_to_int64', [doubleType], intType, doubleToInt),
    global('duration_to_int64', [durationType], intType, ({ nanos }: Duration) => checkedInt(nanos)),
    global('string_to_int64', [stringType], intType, textToInt),
    global('timestamp_to_int64', [timestampType], intType, ({ seconds }: Timestamp) => seconds),
    global('uint64_to_int64', [uintType], intType, ({ value }: Uint) => checkedInt(value)),
  ),
  func(
    'string',
    global('string_to_string', [stringType], stringType, identity),
    global('bool_to_string', [boolType], stringType, toText),
    global('bytes_to_string', [bytesType], stringType, toText),
    global('double_to_string', [doubleType], stringType, toText),
    global('duration_to_string', [durationType], stringType, toText),
    global('int64_to_string', [intType], stringType, toText),
    global('timestamp_to_string', [timestampType], stringType, toText),
    global('uint64_to_string', [uintType], stringType, toText),
  ),
  func(
    'timestamp',
    global('timestamp_to_timestamp', [timestampType], timestampType, identity),
    global('int64_to_timestamp', [intType], timestampType, timestampOfSeconds),
    global(
      'string_to_timestamp',
      [stringType],
      timestampType,
      (text: string) => parseRfc3339(text) ?? conversionError(text, timestampType.name),
    ),
  ),
  func(
    'uint',
    global('uint64_to_uint64', [uintType], uintType, identity),
    global('double_to_uint64', [doubleType], uintType, doubleToUint),
    global('int64_to_uint64', [intType], uintType, (value: Int) => checkedUint(BigInt(value))),
    global('string_to_uint64', [stringType], uintType, textToUint),
  ),
];

const texts: readonly FunctionDeclaration[] = [
  func(
    'contains',
    member('contains_string', [stringType, stringType], boolType, (text: string, part: string) => text.includes(part)),
  ),
  func(
    'endsWith',
    member('ends_with_string', [stringType, stringType], boolType, (text: string, end: string) => text.endsWith(end)),
  ),
  func(
    'startsWith',
    member('starts_with_string', [stringType, stringType], boolType, (text: string, start: string) => text.startsWith(start)),
  ),
  shared(
    'matches',
    (text, pattern) => (typeof text === 'string' && typeof pattern === 'string' ? matchText(text, pattern) : noSuchOverload()),
    global('matches', [stringType, stringType], boolType),
    member('matches_string', [stringType, stringType], boolType),
  ),
];

interface Getter {
  readonly name: string;
  readonly part: TimestampPart;
  readonly id: string;
  readonly zoneId?: string;
  /** Getter for durations, if it has one. */
  readonly ofDuration?: (duration: Duration) => number;
}

const getters: readonly Getter[] = [
  { name: 'getFullYear', part: 'year', id: 'timestamp_to_year' },
  { name: 'getMonth', part: 'month', id: 'timestamp_to_month' },
  { name: 'getDayOfYear', part: 'dayOfYear', id: 'timestamp_to_day_of_year' },
  { name: 'getDayOfMonth', part: 'dayOfMonth', id: 'timestamp_to_day_of_month' },
  { name: 'getDate', part: 'date', id: 'timestamp_to_day_of_month_1_based' },
  { name: 'getDayOfWeek', part: 'dayOfWeek', id: 'timestamp_to_day_of_week' },
  { name: 'getHours', part: 'hours', id: 'timestamp_to_hours', ofDuration: (duration) => durationSeconds(duration) / 3600 },
  { name: 'getMinutes', part: 'minutes', id: 'timestamp_to_minutes', ofDuration: (duration) => durationSeconds(duration) / 60 },
  { name: 'getSeconds', part: 'seconds', id: 'timestamp_to_seconds', zoneId: 'timestamp_to_seconds_tz', ofDuration: durationSeconds },
  { name: 'getMilliseconds', part: 'milliseconds', id: 'timestamp_to_milliseconds', ofDuration: ({ nanos }) => Number(nanos / 1_000_000n) },
];

const times = getters.map(({ name, part, id, zoneId, ofDuration }) =>
  func(
    name,
    member(id, [timestampType], intType, (time: Timestamp) => timestampPart(time, part)),
    member(zoneId ?? `${id}_with_tz`, [timestampType, stringType], intType, (time: Timestamp, zone: string) =>
      timestampPart(time, part, zone),
    ),
    ...(ofDuration
      ? [member(id.replace('timestamp', 'duration'), [durationType], intType, (duration: Duration) => Math.trunc(ofDuration(duration)) + 0)]
      : []),
  ),
);

/** Functions of every environment. */
export const standardFunctions: readonly FunctionDeclaration[] = [
  ...special,
  logicalNot,
  ...arithmetic,
  ...comparisons,
  membership,
  size,
  ...conversions,
  ...texts,
  ...times,
];

/** True if a call with a constant argument is itself a constant. Upstream: overloads.IsTypeConversionFunction. */
export function isConversion(name: string): boolean {
  return conversions.some((declaration) => declaration.name === name);
}
