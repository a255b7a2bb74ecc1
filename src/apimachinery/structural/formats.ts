import { isRequestUri } from '../runtime/url.ts';
import { parseCIDRSloppy, parseIPSloppy } from '../validation/ip.ts';

type Check = (text: string) => boolean;

const matches =
  (pattern: RegExp): Check =>
  (text) =>
    pattern.test(text);

/** True for a valid calendar date. */
function isDate(text: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? [];
  if (year === undefined) return false;
  const date = new Date(Date.UTC(2000, Number(month) - 1, Number(day)));
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day) && Number(month) >= 1;
}

function isDateTime(text: string): boolean {
  const [date = '', time] = text.toLowerCase().split('t');
  if (time === undefined || !isDate(date)) return false;
  const [, hour = '', minute = '', second = ''] =
    /^([0-9]{2}):([0-9]{2}):([0-9]{2})(?:.[0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})$/.exec(time) ?? [];
  return hour !== '' && hour <= '23' && minute <= '59' && second <= '59';
}

const goDuration = /^[-+]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;
/** Short unit names must match fully, the last of each as a prefix: `minutes` matches `min`. */
const units: readonly (readonly string[])[] = [
  ['ns', 'nano'],
  ['us', 'µs', 'micro'],
  ['ms', 'milli'],
  ['s', 'sec'],
  ['m', 'min'],
  ['h', 'hr', 'hour'],
  ['d', 'day'],
  ['w', 'wk', 'week'],
];

/** True for a duration in Go's or Scala's syntax: any number with a unit. Upstream: kube-openapi/pkg/validation/strfmt/duration.go. */
function isDuration(text: string): boolean {
  if (goDuration.test(text)) return true;
  for (const [, unit = ''] of text.matchAll(/\d+\s*([A-Za-zµ]*)/g)) {
    const lower = unit.toLowerCase();
    if (units.some((names) => names.includes(lower) || lower.startsWith(names.at(-1) as string))) return true;
  }
  return false;
}

/** True for an RFC 5322 address, with or without a display name. */
function isEmail(text: string): boolean {
  const trimmed = text.trim();
  const angled = /^[^<>]*<([^<>]+)>$/.exec(trimmed);
  const address = angled?.[1] ?? trimmed;
  const atom = '[^\\s()<>\\[\\]:;@\\\\,."]+';
  return new RegExp(`^(?:${atom}(?:\\.${atom})*|"(?:[^"\\\\]|\\\\.)+")@(?:${atom}(?:\\.${atom})*|\\[[^\\[\\]\\\\]+\\])$`, 'u').test(
    address,
  );
}

const hostname =
  /^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$/u;

function isHostname(text: string): boolean {
  const bytes = Buffer.byteLength(text);
  return bytes <= 255 && text.split('.').every((label) => Buffer.byteLength(label) <= 63) && hostname.test(text);
}

/** Returns the weighted sum of the digits, from left to right. */
function weighted(digits: string, weight: (at: number) => number): number {
  return [...digits].reduce((sum, digit, at) => sum + weight(at) * (digit === 'X' ? 10 : Number(digit)), 0);
}

const compact = (text: string): string => text.replace(/[\s-]+/g, '');
function isIsbn10(text: string): boolean {
  const digits = compact(text);
  return /^[0-9]{9}[0-9X]$/.test(digits) && weighted(digits, (at) => (at === 9 ? 10 : at + 1)) % 11 === 0;
}
function isIsbn13(text: string): boolean {
  const digits = compact(text);
  return /^[0-9]{13}$/.test(digits) && weighted(digits, (at) => (at % 2 === 0 ? 1 : 3)) % 10 === 0;
}

const card =
  /^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|(?:222[1-9]|22[3-9][0-9]|2[3-6][0-9]{2}|27[01][0-9]|2720)[0-9]{12}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11}|6[27][0-9]{14})$/;

function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]+/g, '');
  if (!card.test(digits)) return false;
  const sum = [...digits].reverse().reduce((total, digit, at) => {
    const value = Number(digit) * (at % 2 === 1 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}

const macs =
  /^(?:(?:[0-9a-f]{2}([:-])[0-9a-f]{2}(?:\1[0-9a-f]{2}){4}(?:(?:\1[0-9a-f]{2}){2}|(?:\1[0-9a-f]{2}){14})?)|[0-9a-f]{4}(?:\.[0-9a-f]{4}){2}(?:\.[0-9a-f]{4}|(?:\.[0-9a-f]{4}){7})?|[0-9a-f]{12}(?:[0-9a-f]{4}|[0-9a-f]{28})?)$/i;
const rgb = '(?:0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])';
const uuid = (version: string, variant: string): Check =>
  matches(new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${version}-?${variant}-?[0-9a-f]{12}$`, 'i'));
const shortName = '[a-z0-9](?:[-a-z0-9]*[a-z0-9])?';

/** Checks by format name without dashes. Upstream: kube-openapi/pkg/validation/strfmt. */
const checks: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['bsonobjectid', matches(/^[0-9a-fA-F]{24}$/)],
  ['uri', isRequestUri],
  ['email', isEmail],
  ['hostname', isHostname],
  ['ipv4', (text) => text.includes('.') && parseIPSloppy(text) !== undefined],
  ['ipv6', (text) => text.includes(':') && parseIPSloppy(text) !== undefined],
  ['cidr', (text) => parseCIDRSloppy(text) !== undefined],
  ['mac', matches(macs)],
  ['uuid', uuid('[0-9a-f]{4}', '[0-9a-f]{4}')],
  ['uuid3', uuid('3[0-9a-f]{3}', '[0-9a-f]{4}')],
  ['uuid4', uuid('4[0-9a-f]{3}', '[89ab][0-9a-f]{3}')],
  ['uuid5', uuid('5[0-9a-f]{3}', '[89ab][0-9a-f]{3}')],
  ['isbn', (text) => isIsbn10(text) || isIsbn13(text)],
  ['isbn10', isIsbn10],
  ['isbn13', isIsbn13],
  ['creditcard', isCreditCard],
  ['ssn', matches(/^\d{3}[- ]\d{2}[- ]\d{4}$/)],
  ['hexcolor', matches(/^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/)],
  ['rgbcolor', matches(new RegExp(`^rgb\\(\\s*${rgb}\\s*,\\s*${rgb}\\s*,\\s*${rgb}\\s*\\)$`))],
  ['byte', matches(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/)],
  ['password', () => true],
  ['date', isDate],
  ['datetime', isDateTime],
  ['duration', isDuration],
  ['k8sshortname', (text) => text.length <= 63 && new RegExp(`^${shortName}$`).test(text)],
  ['k8slongname', (text) => text.length <= 253 && new RegExp(`^${shortName}(?:\\.${shortName})*$`).test(text)],
]);

/** Returns the check of a string format, whose name may have dashes; undefined for an unknown format. */
export function formatCheck(format: string): Check | undefined {
  return checks.get(format.replaceAll('-', ''));
}

/** True if the format applies to the type. `type` is empty if the schema has none, or several. */
export function isSupportedFormat(format: string, type: string): boolean {
  switch (type) {
    case '':
    case 'string':
      return formatCheck(format) !== undefined;
    case 'integer':
      return format === 'int32' || format === 'int64';
    case 'number':
      return format === 'float' || format === 'double';
    default:
      return false;
  }
}
