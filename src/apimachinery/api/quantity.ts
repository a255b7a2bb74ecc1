import { memos } from '#apimachinery/runtime/memos';

/** Fixed-point numbers with a suffix: `100m`, `1.5Gi`, `12e6`. They are exact down to a nano. Upstream: apimachinery/pkg/api/resource. */

/** The suffix family of a quantity; parsing derives it from the suffix. */
export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

export const quantityFormatError = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
export const quantityNumericError = 'unable to parse numeric part of quantity';
export const quantitySuffixError = "unable to parse quantity's suffix";

/** The error for a malformed quantity; `message` is one of the three above. */
export class QuantityParseError extends Error {
  override readonly name = 'QuantityParseError';
}

const decimalExponents: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const binaryExponents: Readonly<Record<string, number>> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 };
const decimalSuffixes = new Map(Object.entries(decimalExponents).map(([suffix, exponent]) => [exponent, suffix]));
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

const int64Max = 2n ** 63n - 1n;
const _nanoPerUnit = 1_000_000_000n;
/** Larger exponents are capped, to bound the time; the largest quantity of the API has 19 digits. */
const largestExponent = 400;

function pow10(exponent: number): bigint {
  return 10n ** BigInt(exponent);
}

function abs(value: bigint): bigint {
  return value < 0n ? -value : value;
}

/** Divides and rounds away from zero. */
function divideUp(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor;
  if (value % divisor === 0n) return quotient;
  return value < 0n ? quotient - 1n : quotient + 1n;
}

/** An immutable quantity. */
export class Quantity {
  /** The value is `mantissa` * 10^`-scale`, with 0 <= scale <= 9. */
  readonly #mantissa: bigint;
  readonly #scale: number;
  #text: string | undefined;

  private constructor(
    mantissa: bigint,
    scale: number,
    readonly format: QuantityFormat,
    text?: string,
  ) {
    this.#mantissa = mantissa;
    this.#scale = scale;
    this.#text = text;
  }

  /** Returns the quantity `nanos` / 10^9. */
  static fromNanos(nanos: bigint, format: QuantityFormat): Quantity {
    return new Quantity(nanos, 9, format);
  }

  static fromInteger(value: number | bigint, format: QuantityFormat = 'DecimalSI'): Quantity {
    return new Quantity(BigInt(value), 0, format);
  }

  static fromMilli(value: number | bigint, format: QuantityFormat = 'DecimalSI'): Quantity {
    return new Quantity(BigInt(value), 3, format);
  }

  /** Parses a text. Values below a nano are rounded away from zero, binary ones are capped at 2^63-1. Throws QuantityParseError. */
  static parse(text: string): Quantity {
    if (text === '') throw new QuantityParseError(quantityFormatError);
    const parts = split(text);
    const { base, exponent, format } = interpret(parts.suffix);
    const { negative, whole, fraction, suffix } = format === 'BinarySI' ? withFewDigits(parts) : withShortFraction(parts);
    if (whole.length > manyDigits) return Quantity.#huge(parts, exponent, format);
    // The digits as an integer, and its power of ten.
    const digits = BigInt(whole + fraction || '0');
    let power = (base === 10 ? exponent : 0) - fraction.length;
    let value = base === 2 ? digits << BigInt(exponent) : digits;
    const small = fitsInt64(whole, fraction, exponent, format);
    // Upstream's parser of large numbers rejects a text without digits; its parser of small ones reads zero.
    if (!small && whole === '' && !/[0-9]/.test(text.slice(0, text.length - suffix.length)))
      throw new QuantityParseError(quantityNumericError);
    const kept = text === '0' || (small && isWrittenCanonically(whole, fraction, digits, exponent, format)) ? text : undefined;
    let written: QuantityFormat = format;
    if (value === 0n) {
      power = 0;
    } else if (power < -9) {
      // Non-zero values are at least one nano.
      const tooSmall = -power - 9 > whole.length + fraction.length + 40;
      value = tooSmall ? 1n : divideUp(value, pow10(-power - 9));
      power = -9;
    }
    if (power > 0) {
      value *= pow10(Math.min(power, largestExponent));
      power = 0;
    }
    const unit = pow10(-power);
    if (format === 'BinarySI' && value > int64Max * unit) value = int64Max * unit;
    if (format === 'BinarySI' && value > 0n && value < unit) written = 'DecimalSI';
    return new Quantity(negative ? -value : value, -power, written, kept);
  }

  /** Returns a decimal with a very large number of digits: its text has all of them, and it compares as 10^`manyDigits`. */
  static #huge({ negative, whole, fraction }: Parts, exponent: number, format: QuantityFormat): Quantity {
    const sign = negative ? '-' : '';
    const mantissa = BigInt(`${sign}1${'0'.repeat(manyDigits)}`);
    const fractionDigits = Math.max(0, Math.min(fraction.length, 9 + exponent));
    // A remainder below a nano adds one nano.
    const isCut = /[1-9]/.test(fraction.slice(fractionDigits));
    const digits = whole + fraction.slice(0, fractionDigits);
    const text = writeDecimal(`${sign}${isCut ? increment(digits) : digits}`, exponent - fractionDigits, format);
    return new Quantity(mantissa, 0, format, text);
  }

  get sign(): -1 | 0 | 1 {
    return this.#mantissa === 0n ? 0 : this.#mantissa < 0n ? -1 : 1;
  }

  /** Returns the value in nanos. */
  #nanos(): bigint {
    return this.#mantissa * pow10(9 - this.#scale);
  }

  /** Compares two quantities: negative, 0 or positive. */
  compare(other: Quantity): number {
    const a = this.#nanos();
    const b = other.#nanos();
    return a < b ? -1 : a > b ? 1 : 0;
  }

  equals(other: Quantity): boolean {
    return this.compare(other) === 0;
  }

  /** Returns the sum. It keeps this format, unless this is zero. */
  add(other: Quantity): Quantity {
    return new Quantity(this.#nanos() + other.#nanos(), 9, this.sign === 0 ? other.format : this.format);
  }

  /** Returns the difference. It keeps this format, unless this is zero. */
  sub(other: Quantity): Quantity {
    return new Quantity(this.#nanos() - other.#nanos(), 9, this.sign === 0 ? other.format : this.format);
  }

  negate(): Quantity {
    return new Quantity(-this.#mantissa, this.#scale, this.format);
  }

  /** Returns the value in units of 10^`exponent`, rounded away from zero. */
  scaledValue(exponent: number): bigint {
    const power = -this.#scale - exponent;
    return power >= 0 ? this.#mantissa * pow10(power) : divideUp(this.#mantissa, pow10(-power));
  }

  /** Returns whole units, rounded away from zero. */
  value(): bigint {
    return this.scaledValue(0);
  }

  /** Returns thousandths, rounded away from zero. */
  milliValue(): bigint {
    return this.scaledValue(-3);
  }

  isInteger(): boolean {
    return this.#mantissa % pow10(this.#scale) === 0n;
  }

  /** Returns the nearest double. */
  toNumber(): number {
    return Number(this.#mantissa) / 10 ** this.#scale;
  }

  /** Formats the canonical text, with the largest suffix that leaves no fraction. */
  toString(): string {
    return (this.#text ??= this.#canonical());
  }

  toJSON(): string {
    return this.toString();
  }

  #canonical(): string {
    if (this.#mantissa === 0n) return '0';
    if (this.format === 'BinarySI' && this.isInteger()) {
      let amount = this.value();
      if (abs(amount) >= 1024n) {
        let step = 0;
        while (amount % 1024n === 0n) {
          amount /= 1024n;
          step++;
        }
        return `${amount}${binarySuffixes[step] ?? ''}`;
      }
    }
    return writeDecimal(String(this.#mantissa), -this.#scale, this.format);
  }
}

/** Formats the non-zero number `digits` * 10^`power` with the largest suffix that leaves no fraction. */
function writeDecimal(digits: string, power: number, format: QuantityFormat): string {
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  let exponent = power + digits.length - end;
  // Suffixes are three powers of ten apart.
  const zeros = ((exponent % 3) + 3) % 3;
  exponent -= zeros;
  const amount = digits.slice(0, end) + '0'.repeat(zeros);
  if (format === 'DecimalExponent') return exponent === 0 ? amount : `${amount}e${exponent}`;
  return `${amount}${decimalSuffixes.get(exponent) ?? ''}`;
}

/** Returns the digits of the next integer. */
function increment(digits: string): string {
  let at = digits.length;
  while (digits[at - 1] === '9') at -= 1;
  const nines = '0'.repeat(digits.length - at);
  return at === 0 ? `1${nines}` : `${digits.slice(0, at - 1)}${Number(digits[at - 1]) + 1}${nines}`;
}

/** Maximum number of exact digits, which bounds the time of BigInt. The largest quantity of the API has 19. */
const manyDigits = 1_000;

/** Cuts the digits of a binary quantity, which is capped at int64 in any case. */
function withFewDigits(parts: Parts): Parts {
  const { whole } = parts;
  return withShortFraction(whole.length > manyDigits ? { ...parts, whole: whole.slice(0, manyDigits) } : parts);
}

/** Cuts the fraction: digits below a nano only matter as zero or not. */
function withShortFraction(parts: Parts): Parts {
  const { fraction } = parts;
  if (fraction.length <= manyDigits) return parts;
  return { ...parts, fraction: fraction.slice(0, manyDigits) + (/[1-9]/.test(fraction.slice(manyDigits)) ? '1' : '') };
}

interface Parts {
  readonly negative: boolean;
  readonly whole: string;
  readonly fraction: string;
  readonly suffix: string;
}

const suffixForm = /^[eEinumkKMGTP]{0,64}[-+]?[0-9]*$/;

/** Splits a text into sign, digits and suffix, in linear time; the whole part has no leading zeros. */
function split(text: string): Parts {
  const start = text.startsWith('-') || text.startsWith('+') ? 1 : 0;
  const wholeEnd = endOfDigits(text, start);
  let at = wholeEnd;
  if (text[at] === '.') at = endOfDigits(text, at + 1);
  const suffix = text.slice(at);
  if (!suffixForm.test(suffix)) throw new QuantityParseError(quantityFormatError);
  let from = start;
  while (from < wholeEnd && text[from] === '0') from += 1;
  return { negative: text[0] === '-', whole: text.slice(from, wholeEnd), fraction: text.slice(wholeEnd + 1, at), suffix };
}

function endOfDigits(text: string, from: number): number {
  let at = from;
  for (let code = text.charCodeAt(at); code >= 0x30 && code <= 0x39; code = text.charCodeAt(at)) at += 1;
  return at;
}

function interpret(suffix: string): { base: 2 | 10; exponent: number; format: QuantityFormat } {
  const decimal = Object.hasOwn(decimalExponents, suffix) ? decimalExponents[suffix] : undefined;
  if (decimal !== undefined) return { base: 10, exponent: decimal, format: 'DecimalSI' };
  const binary = Object.hasOwn(binaryExponents, suffix) ? binaryExponents[suffix] : undefined;
  if (binary !== undefined) return { base: 2, exponent: binary, format: 'BinarySI' };
  // An int64 has at most 19 digits.
  if (/^[eE][+-]?0*\d{1,19}$/.test(suffix)) {
    const exact = BigInt(suffix.slice(1).replace('+', ''));
    // Upstream parses an int64 and keeps its lower half.
    if (exact === BigInt.asIntN(64, exact)) return { base: 10, exponent: Number(BigInt.asIntN(32, exact)), format: 'DecimalExponent' };
  }
  throw new QuantityParseError(quantitySuffixError);
}

/** True if upstream stores the number as an int64 rather than in its arbitrary precision form. */
function fitsInt64(whole: string, fraction: string, exponent: number, format: QuantityFormat): boolean {
  const digits = Math.max(whole.length, 1) + fraction.length;
  if (format === 'BinarySI') return fraction === '' && 15 - digits - Math.trunc((exponent * 3) / 10) - 1 >= 0;
  return digits <= 18 && exponent - fraction.length >= -9;
}

/** True if upstream keeps the text of an int64 quantity although it is not the shortest: `1100m` is kept, `1000m` becomes `1`. */
function isWrittenCanonically(whole: string, fraction: string, digits: bigint, exponent: number, format: QuantityFormat): boolean {
  if (format === 'BinarySI') return (digits & 7n) !== 0n;
  const shifted = (whole || '0') + fraction;
  return (exponent - fraction.length) % 3 === 0 && !shifted.endsWith('000') && !shifted.startsWith('0');
}

/** Cache of texts: pods of one deployment have the same amounts. */
const canonical = new Map<string, string>();
const canonicalLimit = 2048;

/** Returns the canonical text of a quantity, without surrounding blanks. Throws QuantityParseError. */
export function canonicalQuantity(text: string): string {
  const known = memos.canonicalQuantities ? canonical.get(text) : undefined;
  if (known !== undefined) return known;
  const result = Quantity.parse(text.trim()).toString();
  if (text.length <= 24) {
    if (canonical.size >= canonicalLimit) canonical.clear();
    canonical.set(text, result);
  }
  return result;
}
