/** `'%s is %d'.format([…])`. Upstream: cel-go ext/formatting.go. */
import { quote } from '#apimachinery/runtime/quote';
import { CelType, dynType, type Kind } from '../check/types.ts';
import { toText } from '../runtime/format.ts';
import { CelError, CelList, CelMap, Double, Duration, isInt, Timestamp, typeOf, Uint, type Value } from '../runtime/values.ts';
import { children, type Expr } from '../syntax/ast.ts';

const defaultPrecision = 6;
/** Maximum number of fraction digits in JavaScript. */
const maxPrecision = 100;

/** `message` is cel-go's. `argument` is the faulty expression, if it is known. */
export class FormatError extends Error {
  constructor(
    message: string,
    readonly argument?: Expr,
  ) {
    super(message);
  }
}

/** Replaces the clauses of a format by its arguments. */
export function formatText(format: string, args: CelList): Value {
  const outOfRange = (index: number): void => {
    if (index >= args.size) throw new FormatError(`index ${index} out of range`);
  };
  try {
    return interpolate(format, outOfRange, args.size, ({ verb, precision }, index) => formatClause(verb, precision, args.get(index)));
  } catch (error) {
    if (error instanceof FormatError) return new CelError(error.message);
    throw error;
  }
}

/**
 * Checks a literal format, and the types of its arguments. Throws FormatError. Upstream: cel-go ext/formatting.go (stringFormatValidator).
 */
export function checkFormat(format: string, args: readonly Expr[], typeAt: (expr: Expr) => CelType): void {
  let requested = 0;
  const request = (): void => {
    requested++;
  };
  interpolate(format, request, args.length, ({ verb }, index) => {
    checkArgument(verb, args[index]!, typeAt);
    return '';
  });
  if (args.length > requested)
    throw new FormatError(`too many arguments supplied to string.format (expected ${requested}, got ${args.length})`);
}

const integers: readonly Kind[] = ['int', 'uint'];
const scalars: readonly Kind[] = ['double', 'bool', 'string', 'timestamp', 'bytes', 'duration', 'type', 'null'];

/** Types that each clause accepts, and the error message for others. */
const clauses: Readonly<Record<string, readonly [kinds: readonly Kind[], message: string]>> = {
  s: [
    [...integers, ...scalars, 'list', 'map'],
    'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
  ],
  d: [integers, 'decimal clause can only be used on integers'],
  f: [['double', 'string'], 'fixed-point clause can only be used on doubles'],
  e: [['double', 'string'], 'scientific clause can only be used on doubles'],
  b: [[...integers, 'bool'], 'only integers and bools can be formatted as binary'],
  x: [[...integers, 'string', 'bytes'], 'only integers, byte buffers, and strings can be formatted as hex'],
  X: [[...integers, 'string', 'bytes'], 'only integers, byte buffers, and strings can be formatted as hex'],
  o: [integers, 'octal clause can only be used on integers'],
};

function checkArgument(verb: string, argument: Expr, typeAt: (expr: Expr) => CelType): void {
  const [kinds, message] = clauses[verb]!;
  const type = typeAt(argument);
  if (type !== dynType && !kinds.includes(type.kind))
    throw new FormatError(`error during formatting: ${message}, was given ${type.name}`, argument);
  const { node } = argument;
  if (verb !== 's' || (node.kind !== 'list' && node.kind !== 'map')) return;
  for (const child of children(argument)) checkArgument(verb, child, typeAt);
}

interface Clause {
  readonly verb: string;
  readonly precision: number;
  readonly end: number;
}

/** Interpolates a format. Calls `request` for each argument that the format uses, before its presence is checked. */
function interpolate(
  format: string,
  request: (index: number) => void,
  count: number,
  write: (clause: Clause, index: number) => string,
): string {
  let out = '';
  let index = 0;
  let at = 0;
  while (at < format.length) {
    const percent = format.indexOf('%', at);
    if (percent < 0) return out + format.slice(at);
    out += format.slice(at, percent);
    if (format[percent + 1] === '%') {
      out += '%';
      at = percent + 2;
      continue;
    }
    request(index);
    if (percent + 1 >= format.length) throw new FormatError('unexpected end of string');
    if (index >= count) throw new FormatError(`index ${index} out of range`);
    const clause = parseClause(format, percent + 1);
    out += write(clause, index);
    index++;
    at = clause.end;
  }
  return out;
}

function parseClause(format: string, start: number): Clause {
  let at = start;
  let precision = defaultPrecision;
  if (format[at] === '.') {
    const digits = /^\d*/.exec(format.slice(at + 1))![0];
    at += 1 + digits.length;
    const failed = 'could not parse formatting clause: error while parsing precision: ';
    if (at >= format.length) throw new FormatError(`${failed}could not find end of precision specifier`);
    if (digits === '')
      throw new FormatError(`${failed}error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax`);
    precision = Math.min(Number(digits), maxPrecision);
  }
  const verb = String.fromCodePoint(format.codePointAt(at)!);
  if (!'sdfebxXo'.includes(verb)) throw new FormatError(`could not parse formatting clause: unrecognized formatting clause "${verb}"`);
  return { verb, precision, end: at + verb.length };
}

function formatClause(verb: string, precision: number, value: Value): string {
  const text = clauseText(verb, precision, value);
  if (text !== undefined) return text;
  throw new FormatError(`error during formatting: ${clauses[verb]![1]}, was given ${typeOf(value).name}`);
}

/** Formats a value; undefined if the clause does not accept it. */
function clauseText(verb: string, precision: number, value: Value): string | undefined {
  switch (verb) {
    case 's':
      return formatString(value);
    case 'd':
      return integer(value)?.toString();
    case 'f':
      return fixed(value, precision);
    case 'e':
      return scientific(value, precision);
    case 'b':
      if (typeof value === 'boolean') return value ? '1' : '0';
      return integer(value)?.toString(2);
    case 'o':
      return integer(value)?.toString(8);
    case 'X':
      return hexadecimal(value)?.toUpperCase();
    default:
      return hexadecimal(value);
  }
}

function integer(value: Value): bigint | undefined {
  if (isInt(value)) return BigInt(value);
  return value instanceof Uint ? value.value : undefined;
}

function hexadecimal(value: Value): string | undefined {
  if (typeof value === 'string') return Buffer.from(value).toString('hex');
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  return integer(value)?.toString(16);
}

/** Returns the number of a double or of text such as "NaN"; undefined for other values. */
function double(value: Value): number | undefined {
  if (value instanceof Double) return value.value;
  if (value === 'NaN') return Number.NaN;
  if (value === 'Infinity') return Infinity;
  return value === '-Infinity' ? -Infinity : undefined;
}

function notFinite(value: number): string | undefined {
  if (Number.isNaN(value)) return 'NaN';
  return Number.isFinite(value) ? undefined : value > 0 ? '\u221e' : '-\u221e';
}

function fixedDigits(number: number, precision: number): string {
  return toEven(number.toFixed(precision), number.toFixed(maxPrecision), precision);
}

/** Rounds ties to even like Go; JavaScript rounds them up. `exact` has all digits. */
function toEven(rounded: string, exact: string, precision: number): string {
  const end = exact.indexOf('.') + 1 + precision;
  const isTie = /^50*$/.test(exact.slice(end));
  if (!isTie || Number(rounded.at(-1)) % 2 === 0) return rounded;
  return exact.slice(0, precision === 0 ? end - 1 : end);
}

function fixed(value: Value, precision: number): string | undefined {
  const number = double(value);
  if (number === undefined) return undefined;
  const special = notFinite(number);
  if (special !== undefined) return special;
  const plain =
    Math.abs(number) < 1e21 ? fixedDigits(number, precision) : `${BigInt(number)}${precision > 0 ? `.${'0'.repeat(precision)}` : ''}`;
  const [whole, fraction] = plain.split('.') as [string, string | undefined];
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

const superscripts: Readonly<Record<string, string>> = {
  '-': '\u207b',
  '0': '\u2070',
  '1': '\u00b9',
  '2': '\u00b2',
  '3': '\u00b3',
  '4': '\u2074',
  '5': '\u2075',
  '6': '\u2076',
  '7': '\u2077',
  '8': '\u2078',
  '9': '\u2079',
};

/** Always has six digits, because upstream passes the precision to fmt as the width. */
function scientific(value: Value, width: number): string | undefined {
  const number = double(value);
  return number === undefined ? undefined : (notFinite(number) ?? withExponent(number)).padStart(width);
}

function withExponent(number: number): string {
  const [mantissa, exponent] = number.toExponential(defaultPrecision).split('e') as [string, string];
  const exact = number.toExponential(maxPrecision).split('e')[0]!;
  const sign = exponent[0] === '-' ? '-' : '';
  const digits = exponent.slice(1).padStart(2, '0');
  return `${toEven(mantissa, exact, defaultPrecision)}\u00d710${[...(sign + digits)].map((char) => superscripts[char]).join('')}`;
}

/** Formats the clause %s. */
function formatString(value: Value): string {
  if (value instanceof CelList) return formatList(value);
  if (value instanceof CelMap) return formatMap(value);
  const text = toText(value);
  if (typeof text === 'string') return text;
  if (value instanceof Uint8Array) throw new FormatError(`error during formatting: could not convert argument "${text.message}" to string`);
  throw new FormatError(`error during formatting: ${clauses['s']![1]}, was given ${typeOf(value).name}`);
}

/** Formats a value inside a list or map. */
function formatNested(value: Value): string {
  if (value instanceof Timestamp) return `timestamp(${quote(formatString(value))})`;
  if (value instanceof Duration) return `duration(${quote(formatString(value))})`;
  if (value instanceof Double) {
    const { value: number } = value;
    if (Number.isNaN(number)) return '"NaN"';
    if (!Number.isFinite(number)) return number > 0 ? '"+Inf"' : '"-Inf"';
    return Math.abs(number) < 1e21 ? fixedDigits(number, defaultPrecision) : `${BigInt(number)}.000000`;
  }
  if (typeof value === 'string') return quote(value);
  if (value instanceof Uint8Array) return `b${quote(formatString(value))}`;
  const known = value === null || typeof value === 'boolean' || integer(value) !== undefined || value instanceof CelType;
  if (!known && !(value instanceof CelList) && !(value instanceof CelMap)) {
    throw new FormatError(`error during formatting: no formatting function for ${typeOf(value).name}`);
  }
  return formatString(value);
}

function formatList(list: CelList): string {
  return `[${[...list].map(formatNested).join(', ')}]`;
}

function formatMap(map: CelMap): string {
  const entries = [...map.keys()].map((key) => {
    if (typeof key !== 'string' && typeof key !== 'boolean' && integer(key) === undefined) {
      throw new FormatError(`error during formatting: no formatting function for map key of type ${typeOf(key).name}`);
    }
    return [formatNested(key), formatNested(map.find(key)!)] as const;
  });
  entries.sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  return `{${entries.map(([key, value]) => `${key}:${value}`).join(', ')}}`;
}
