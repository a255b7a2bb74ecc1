import { memos } from '#apimachinery/runtime/memos';

/**
 * Fixed-point numbers with a suffix: `100m`, `1.5Gi`, `12e6`. Exact; the smallest part is a nano. Upstream: apimachinery/pkg/api/resource.
 */

/** How a quantity is written; parsing takes it from the suffix. */
export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

export const quantityFormatError = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
export const quantityNumericError = 'unable to parse numeric part of quantity';
export const quantitySuffixError = "unable to parse quantity's suffix";

/** Not a quantity; `message` is one of the three above. */
export class QuantityParseError extends Error {
  override readonly name = 'QuantityParseError';
}

const decimalExponents: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const binaryExponents: Readonly<Record<string, number>> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 };
const decimalSuffixes = new Map(Object.entries(decimalExponents).map(([suffix, exponent]) => [exponent, suffix]));
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

const int64Max = 2n ** 63n - 1n;
const _nanoPerUnit = 1_000_000_000n;
/** More digits or a larger exponent than this are capped before they cost time; the largest quantity of the API has 19 digits. */
const largestExponent = 400;

function pow10(exponent: number): bigint {
  return 10n ** BigInt(exponent);
}

function abs(value: bigint): bigint {
  return value < 0n ? -value : value;
}

/** Divides away from zero. */
function divideUp(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor;
  if (value % divisor === 0n) return quotient;
  return value < 0n ? quotient - 1n : quotient + 1n;
}

/** An immutable quantity. */
export class Quantity {
  /** The value is `mantissa` * 10^`-scale`, 0 <= scale <= 9. */
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

  /** `nanos` / 10^9. */
  static fromNanos(nanos: bigint, format: QuantityFormat): Quantity {
    return new Quantity(nanos, 9, format);
  }

  static fromInteger(value: number | bigint, format: QuantityFormat = 'DecimalSI'): Quantity {
    return new Quantity(BigInt(value), 0, format);
  }

  static fromMilli(value: number | bigint, format: QuantityFormat = 'DecimalSI'): Quantity {
    return new Quantity(BigInt(value), 3, format);
  }

  /** Parses; values below a nano are rounded away from zero, binary ones are capped at 2^63-1. Throws QuantityParseError. */
  static parse(text: string): Quantity {
    if (text === '') throw new QuantityParseError(quantityFormatError);
    const parts = split(text);
    const { base, exponent, format } = interpret(parts.suffix);
    const { negative, whole, fraction, suffix } = format === 'BinarySI' ? withFewDigits(parts) : withShortFraction(parts);
    if (whole.length > manyDigits) return Quantity.#huge(parts, exponent, format);
    // The digits as an integer, and the power of ten that it is multiplied with.
    const digits = BigInt(whole + fraction || '0');
    let power = (base === 10 ? exponent : 0) - fraction.length;
    let value = base === 2 ? digits << BigInt(exponent) : digits;
    const small = fitsInt64(whole, fraction, exponent, format);
    // Upstream's parser of large numbers refuses a text without digits; the one for small numbers takes it for zero.
    if (!small && whole === '' && !/[0-9]/.test(text.slice(0, text.length - suffix.length)))
      throw new QuantityParseError(quantityNumericError);
    const kept = text === '0' || (small && isWrittenCanonically(whole, fraction, digits, exponent, format)) ? text : undefined;
    let written: QuantityFormat = format;
    if (value === 0n) {
      power = 0;
    } else if (power < -9) {
      // Whatever is not zero counts at least as one nano.
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

  /** A decimal of very many digits: its text has them all, and it compares as one of `manyDigits`. */
  static #huge({ negative, whole, fraction }: Parts, exponent: number, format: QuantityFormat): Quantity {
    const sign = negative ? '-' : '';
    const mantissa = BigInt(`${sign}1${'0'.repeat(manyDigits)}`);
    const fractionDigits = Math.max(0, Math.min(fraction.length, 9 + exponent));
    // Whatever is below a nano makes it one nano more.
    const isCut = /[1-9]/.test(fraction.slice(fractionDigits));
    const digits = whole + fraction.slice(0, fractionDigits);
    const text = writeDecimal(`${sign}${isCut ? increment(digits) : digits}`, exponent - fractionDigits, format);
    return new Quantity(mantissa, 0, format, text);
  }

  get sign(): -1 | 0 | 1 {
    return this.#mantissa === 0n ? 0 : this.#mantissa < 0n ? -1 : 1;
  }

  /** In nanos. */
  #nanos(): bigint {
    return this.#mantissa * pow10(9 - this.#scale);
  }

  /** Negative, 0 or positive, as the value is less than, equal to or more than the other. */
  compare(other: Quantity): number {
    const a = this.#nanos();
    const b = other.#nanos();
    return a < b ? -1 : a > b ? 1 : 0;
  }

  equals(other: Quantity): boolean {
    return this.compare(other) === 0;
  }

  /** The sum keeps this format, unless this is zero. */
  add(other: Quantity): Quantity {
    return new Quantity(this.#nanos() + other.#nanos(), 9, this.sign === 0 ? other.format : this.format);
  }

  /** The difference keeps this format, unless this is zero. */
  sub(other: Quantity): Quantity {
    return new Quantity(this.#nanos() - other.#nanos(), 9, this.sign === 0 ? other.format : this.format);
  }

  negate(): Quantity {
    return new Quantity(-this.#mantissa, this.#scale, this.format);
  }

  /** The value in units of 10^`exponent`, rounded away from zero. */
  scaledValue(exponent: number): bigint {
    const power = -this.#scale - exponent;
    return power >= 0 ? this.#mantissa * pow10(power) : divideUp(this.#mantissa, pow10(-power));
  }

  /** Whole units, rounded away from zero. */
  value(): bigint {
    return this.scaledValue(0);
  }

  /** Thousandths, rounded away from zero. */
  milliValue(): bigint {
    return this.scaledValue(-3);
  }

  isInteger(): boolean {
    return this.#mantissa % pow10(this.#scale) === 0n;
  }

  /** A double near the value. */
  toNumber(): number {
    return Number(this.#mantissa) / 10 ** this.#scale;
  }

  /** The canonical text: the largest suffix that leaves no fraction. */
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

/** `digits` * 10^`power`, which is not zero, with the largest suffix that leaves no fraction. */
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

/** Digits of the next integer. */
function increment(digits: string): string {
  let at = digits.length;
  while (digits[at - 1] === '9') at -= 1;
  const nines = '0'.repeat(digits.length - at);
  return at === 0 ? `1${nines}` : `${digits.slice(0, at - 1)}${Number(digits[at - 1]) + 1}${nines}`;
}

/** Digits of a number that is exact; beyond them BigInt would cost time. The largest quantity of the API has 19. */
const manyDigits = 1_000;

/** A binary quantity is capped at int64. */
function withFewDigits(parts: Parts): Parts {
  const { whole } = parts;
  return withShortFraction(whole.length > manyDigits ? { ...parts, whole: whole.slice(0, manyDigits) } : parts);
}

/** Whatever is behind so many digits is below a nano: it matters only that it is not zero. */
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

/** Sign, digits and suffix of a text; the whole part is without leading zeros. The time is linear in the text. */
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
  // No int64 has more digits.
  if (/^[eE][+-]?0*\d{1,19}$/.test(suffix)) {
    const exact = BigInt(suffix.slice(1).replace('+', ''));
    // Upstream reads an int64 and keeps its lower half.
    if (exact === BigInt.asIntN(64, exact)) return { base: 10, exponent: Number(BigInt.asIntN(32, exact)), format: 'DecimalExponent' };
  }
  throw new QuantityParseError(quantitySuffixError);
}

/** Whether upstream holds the number in an int64 rather than in its arbitrary precision form. */
function fitsInt64(whole: string, fraction: string, exponent: number, format: QuantityFormat): boolean {
  const digits = Math.max(whole.length, 1) + fraction.length;
  if (format === 'BinarySI') return fraction === '' && 15 - digits - Math.trunc((exponent * 3) / 10) - 1 >= 0;
  return digits <= 18 && exponent - fraction.length >= -9;
}

/** Of the int64 form, upstream keeps some texts as they were, though they are not the shortest: `1100m` stays, `1000m` becomes `1`. */
function isWrittenCanonically(whole: string, fraction: string, digits: bigint, exponent: number, format: QuantityFormat): boolean {
  if (format === 'BinarySI') return (digits & 7n) !== 0n;
  const shifted = (whole || '0') + fraction;
  return (exponent - fraction.length) % 3 === 0 && !shifted.endsWith('000') && !shifted.startsWith('0');
}

/** Texts seen before: pods of one deployment ask for the same amounts. */
const canonical = new Map<string, string>();
const canonicalLimit = 2048;

/** The text that a quantity has once it was read and written. Blanks around it are dropped. Throws QuantityParseError. */
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
