type Format = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

const decimalSuffixes: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const binarySuffixes = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const maxInt64 = 2n ** 63n - 1n;

function suffixOf(suffix: string): { readonly base: 2 | 10; readonly exponent: number; readonly format: Format } {
  const binary = binarySuffixes.indexOf(suffix);
  if (binary >= 0) return { base: 2, exponent: (binary + 1) * 10, format: 'BinarySI' };
  const decimal = decimalSuffixes[suffix];
  if (decimal !== undefined) return { base: 10, exponent: decimal, format: 'DecimalSI' };
  return { base: 10, exponent: Number(suffix.slice(1)), format: 'DecimalExponent' };
}

/**
 * Returns Go's dump of a parsed quantity, which shows how it is held: as a 64-bit number where that suffices, with its text where that is
 * canonical. Upstream: ParseQuantity of apimachinery/pkg/api/resource.
 */
export function dumpQuantity(text: string | undefined): string {
  if (text === undefined) return small(0n, 0, '', '');
  if (text === '0') return small(0n, 0, text, 'DecimalSI');
  const match = /^([+-]?)0*(\d*)(?:\.(\d*))?(.*)$/.exec(text);
  if (!match) throw new Error(`invalid quantity ${text}`);
  const [, sign, whole, fraction = '', suffix = ''] = match;
  const digits = whole || '0';
  const { base, exponent, format } = suffixOf(suffix);
  const precision =
    base === 10 ? 18 - digits.length - fraction.length : fraction === '' ? 15 - digits.length - Math.trunc((exponent * 3) / 10) - 1 : -1;
  const scale = (base === 10 ? exponent : 0) - fraction.length;
  const shifted = digits + fraction;
  if (precision >= 0 && scale >= -9) {
    const value = BigInt(shifted);
    const isCanonical = base === 2 ? (value & 7n) !== 0n : scale % 3 === 0 && !shifted.endsWith('000') && !shifted.startsWith('0');
    const magnitude = base === 2 ? value << BigInt(exponent) : value;
    return small(sign === '-' ? -magnitude : magnitude, scale, isCanonical ? text : '', format);
  }
  return large(BigInt(shifted), fraction.length - (base === 10 ? exponent : 0), base === 2 ? exponent : 0, format, sign === '-');
}

function small(value: bigint, scale: number, text: string, format: Format | ''): string {
  const amount = `{value:(int64)${value} scale:(resource.Scale)${scale}}`;
  return `{i:(resource.int64Amount)${amount} d:(resource.infDecAmount){Dec:(*inf.Dec)<nil>} s:(string)${text} Format:(resource.Format)${format}}`;
}

/** `scale`: number of digits behind the point; the number is rounded up to nine. */
function large(unscaled: bigint, scale: number, shift: number, format: Format, isNegative: boolean): string {
  const factor = 10n ** BigInt(Math.abs(9 - scale));
  const exact = unscaled << BigInt(shift);
  const nanos = scale <= 9 ? exact * factor : (exact + factor - 1n) / factor;
  const isCapped = format === 'BinarySI' && nanos > maxInt64 * 10n ** 9n;
  const isFraction = format === 'BinarySI' && nanos > 0n && nanos < 10n ** 9n;
  const words: bigint[] = [];
  for (let rest = isCapped ? maxInt64 : nanos; rest > 0n; rest >>= 64n) words.push(BigInt.asUintN(64, rest));
  const number = `{neg:(bool)${isNegative} abs:(big.nat)[${words.join(' ')}]}`;
  const decimal = `{unscaled:(big.Int)${number} scale:(inf.Scale)${isCapped ? 0 : 9}}`;
  const shown = isFraction ? 'DecimalSI' : format;
  return `{i:(resource.int64Amount){value:(int64)0 scale:(resource.Scale)0} d:(resource.infDecAmount){Dec:(*inf.Dec)${decimal}} s:(string) Format:(resource.Format)${shown}}`;
}
