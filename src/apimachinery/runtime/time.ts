/** Times of the API as text: metav1.Time in whole seconds, metav1.MicroTime with six digits, both UTC. Parsed like Go's time.Parse. */

const layouts = {
  /** metav1.Time; a fraction is accepted and dropped. */
  time: '2006-01-02T15:04:05Z07:00',
  /** metav1.MicroTime; exactly six digits. */
  microtime: '2006-01-02T15:04:05.000000Z07:00',
} as const;

/** Error for a malformed time. `message` is that of Go's time.ParseError: `parsing time "x" as "…": cannot parse "x" as "2006"`. */
export class TimeParseError extends Error {
  override readonly name = 'TimeParseError';
}

/** Go's zero time, which is encoded as null or omitted. */
export const zeroTime = '0001-01-01T00:00:00Z';

/** Formats a metav1.Time: `2026-11-21T10:52:13Z`, truncated to the second. */
export function formatTime(millis: number): string {
  return `${new Date(millis).toISOString().slice(0, 19)}Z`;
}

/** Formats a metav1.MicroTime: `2026-11-21T10:52:13.123000Z`. `micros` (0..999) are below the millisecond. */
export function formatMicroTime(millis: number, micros = 0): string {
  const second = Math.floor(millis / 1000);
  return `${formatSecond(second)}.${String((millis - second * 1000) * 1000 + 1_000_000 + micros).slice(1)}Z`;
}

let lastSecond = -1;
let lastText = '';

/** Formats `2026-11-21T10:52:13`; the last second is cached. */
function formatSecond(second: number): string {
  if (second !== lastSecond) {
    lastText = new Date(second * 1000).toISOString().slice(0, 19);
    lastSecond = second;
  }
  return lastText;
}

/** Returns the current time as metav1.Time. */
export function now(): string {
  return `${formatSecond(Math.floor(Date.now() / 1000))}Z`;
}

/** Returns the current time as metav1.MicroTime. */
export function nowMicro(): string {
  const micros = Math.round((performance.timeOrigin + performance.now()) * 1000);
  return formatMicroTime(Math.floor(micros / 1000), micros % 1000);
}

/** Returns the milliseconds since 1970 of a metav1.Time or MicroTime in any zone, truncated. Throws TimeParseError. */
export function parseTime(text: string): number {
  const { seconds, nanos } = parseLayout(text, 'time');
  return seconds * 1000 + Math.floor(nanos / 1_000_000);
}

/** True for `YYYY-MM-DDTHH:MM:SSZ` with all numbers in range, the form that the server writes. */
function isCanonicalTime(text: string): boolean {
  if (text.length !== 20 || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text)) return false;
  const month = Number(text.slice(5, 7));
  const day = Number(text.slice(8, 10));
  return (
    month >= 1 &&
    month <= 12 &&
    day >= 1 &&
    (day <= 28 || day <= daysIn(Number(text.slice(0, 4)), month)) &&
    text.slice(11, 13) < '24' &&
    text.charCodeAt(14) < 0x36 &&
    text.charCodeAt(17) < 0x36
  );
}

/** Returns the canonical text of a metav1.Time: UTC, whole seconds. Throws TimeParseError. */
export function canonicalTime(text: string): string {
  if (isCanonicalTime(text)) return text;
  const { seconds } = parseLayout(text, 'time');
  return formatSeconds(seconds);
}

/** Returns the canonical text of a metav1.MicroTime: UTC, six digits. Throws TimeParseError. */
export function canonicalMicroTime(text: string): string {
  const { seconds, nanos } = parseLayout(text, 'microtime');
  return `${formatSeconds(seconds).slice(0, -1)}.${String(Math.floor(nanos / 1000)).padStart(6, '0')}Z`;
}

/** Returns the canonical text of a Go time.Time, with its zone and full fraction. Throws TimeParseError. */
export function nanoTime(text: string): string {
  if (isCanonicalTime(text)) return text;
  parseLayout(text, 'time');
  const [, date, hour, rest, fraction = '', zone] = /^(.{11})(\d\d?)(:\d\d:\d\d)(?:[.,](\d+))?(.*)$/.exec(text) as unknown as string[];
  return `${date}${hour!.padStart(2, '0')}${rest}${nanoFraction(fraction)}${/^[+-]00:00$/.test(zone!) ? 'Z' : zone}`;
}

/** Formats seconds since 1970 like a Go time.Time in UTC; undefined outside the years 0 to 9999. */
export function formatNanoTime(seconds: number): string | undefined {
  const whole = Math.trunc(seconds);
  const nanos = Math.trunc((seconds - whole) * 1e9);
  const date = new Date((nanos < 0 ? whole - 1 : whole) * 1000);
  if (Number.isNaN(date.getTime()) || date.getUTCFullYear() < 0 || date.getUTCFullYear() > 9999) return undefined;
  const fraction = String(nanos < 0 ? nanos + 1e9 : nanos).padStart(9, '0');
  return `${date.toISOString().slice(0, 19)}${nanoFraction(fraction)}Z`;
}

/** Returns the digits of a fraction up to nanoseconds, without trailing zeros. */
function nanoFraction(digits: string): string {
  const kept = digits.slice(0, 9).replace(/0+$/, '');
  return kept && `.${kept}`;
}

/** Formats seconds. Years outside 0..9999 (reached through a zone) are printed like Go: with a sign, or five digits. */
function formatSeconds(seconds: number): string {
  const iso = new Date(seconds * 1000).toISOString();
  const match = /^([+-])(\d{6})(.*)\.\d{3}Z$/.exec(iso);
  if (!match) return `${iso.slice(0, 19)}Z`;
  const [, sign, year, rest] = match as unknown as [string, string, string, string];
  return `${sign === '-' ? '-' : ''}${String(Number(year)).padStart(4, '0')}${rest}Z`;
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** time.Parse for the two layouts, with its errors. Upstream: Go's time/format.go. */
function parseLayout(text: string, layout: keyof typeof layouts): { seconds: number; nanos: number } {
  let rest = text;
  const fail = (element: string, found: string): TimeParseError =>
    new TimeParseError(
      `parsing time ${quoteTime(text)} as ${quoteTime(layouts[layout])}: cannot parse ${quoteTime(found)} as ${quoteTime(element)}`,
    );
  const outOfRange = (what: string): TimeParseError => new TimeParseError(`parsing time ${quoteTime(text)}: ${what} out of range`);
  const literal = (char: string): void => {
    if (!rest.startsWith(char)) throw fail(char, rest);
    rest = rest.slice(1);
  };
  /** Reads two digits; `element` is the layout's name of them. `single` accepts one digit, for the hour. */
  const pair = (element: string, single = false): number => {
    const match = /^\d\d/.exec(rest) ?? (single ? /^\d/.exec(rest) : null);
    if (!match) throw fail(element, rest);
    rest = rest.slice(match[0].length);
    return Number(match[0]);
  };
  const fraction = (pattern: RegExp): number | undefined => {
    const match = pattern.exec(rest);
    if (!match) return undefined;
    rest = rest.slice(match[0].length);
    return Number(match[0].slice(1, 10).padEnd(9, '0'));
  };

  if (!/^\d{4}/.test(rest)) throw fail('2006', rest);
  const year = Number(rest.slice(0, 4));
  rest = rest.slice(4);
  literal('-');
  const month = pair('01');
  if (month < 1 || month > 12) throw outOfRange('month');
  literal('-');
  const day = pair('02');
  literal('T');
  const hour = pair('15', true);
  if (hour > 23) throw outOfRange('hour');
  literal(':');
  const minute = pair('04');
  if (minute > 59) throw outOfRange('minute');
  literal(':');
  const second = pair('05');
  if (second > 59) throw outOfRange('second');
  let nanos: number | undefined;
  if (layout === 'microtime') {
    const before = rest;
    nanos = fraction(/^[.,]\d{6}/);
    if (nanos === undefined) throw fail('.000000', before);
  } else {
    nanos = fraction(/^[.,]\d+/) ?? 0;
  }
  let offset = 0;
  const zone = rest;
  if (zone.startsWith('Z')) {
    rest = zone.slice(1);
  } else {
    const match = /^([\s\S])(\d\d):(\d\d)/.exec(zone);
    if (!match) throw fail('Z07:00', zone);
    const [whole, sign, hours, minutes] = match as unknown as [string, string, string, string];
    if (Number(hours) > 24) throw outOfRange('time zone offset hour');
    if (Number(minutes) > 60) throw outOfRange('time zone offset minute');
    if (sign !== '+' && sign !== '-') throw fail('Z07:00', zone);
    offset = (sign === '-' ? -60 : 60) * (Number(hours) * 60 + Number(minutes));
    rest = zone.slice(whole.length);
  }
  if (rest !== '') throw new TimeParseError(`parsing time ${quoteTime(text)}: extra text: ${quoteTime(rest)}`);
  if (day < 1 || day > daysIn(year, month)) throw outOfRange('day');
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second);
  return { seconds: date.getTime() / 1000 - offset, nanos };
}

/** Quotes like Go's time package: bytes beyond ASCII, and control characters, as `\x..`. */
function quoteTime(text: string): string {
  let out = '"';
  for (const char of text) {
    if (char === '"' || char === '\\') out += `\\${char}`;
    else if (char >= ' ' && char < '\u0080') out += char;
    else for (const byte of Buffer.from(char)) out += `\\x${byte.toString(16).padStart(2, '0')}`;
  }
  return `${out}"`;
}
