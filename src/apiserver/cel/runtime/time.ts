/**
 * Timestamps and durations with Go's semantics. Upstream: cel-go common/types/{timestamp,duration,overflow}.go, Go's package
 * time.
 */
import { CelError, Duration, type Int, intValue, Timestamp, type Value } from './values.ts';

const minUnixTime = -62135596800;
const maxUnixTime = 253402300799;
const nanosPerSecond = 1_000_000_000n;

const timestampOverflow = new CelError('timestamp overflow');
const durationOverflow = new CelError('integer overflow');

/** Returns the timestamp at whole seconds since 1970. */
export function timestampOfSeconds(seconds: Int): Timestamp | CelError {
  return seconds < minUnixTime || seconds > maxUnixTime ? timestampOverflow : new Timestamp(Number(seconds), 0);
}

function checkedDuration(nanos: bigint): Duration | CelError {
  return intValue(nanos) === undefined ? durationOverflow : new Duration(nanos);
}

export function addDurations(a: Duration, b: Duration): Duration | CelError {
  return checkedDuration(a.nanos + b.nanos);
}

export function subtractDurations(a: Duration, b: Duration): Duration | CelError {
  return checkedDuration(a.nanos - b.nanos);
}

function nanosOf(time: Timestamp): bigint {
  return BigInt(time.seconds) * nanosPerSecond + BigInt(time.nanos);
}

export function addToTimestamp(time: Timestamp, nanos: bigint): Timestamp | CelError {
  const total = nanosOf(time) + nanos;
  const rest = ((total % nanosPerSecond) + nanosPerSecond) % nanosPerSecond;
  const seconds = Number((total - rest) / nanosPerSecond);
  if (seconds < minUnixTime || seconds > maxUnixTime) return timestampOverflow;
  return new Timestamp(seconds, Number(rest), time.offsetMinutes);
}

export function subtractTimestamps(a: Timestamp, b: Timestamp): Duration | CelError {
  return checkedDuration(nanosOf(a) - nanosOf(b));
}

const unitNanos: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1000n,
  µs: 1000n,
  μs: 1000n,
  ms: 1_000_000n,
  s: nanosPerSecond,
  m: 60n * nanosPerSecond,
  h: 3600n * nanosPerSecond,
};

/** Parses Go's duration syntax (`1h2m3.5s`) with nanosecond precision; undefined if it is invalid. */
export function parseGoDuration(text: string): Duration | undefined {
  const negative = text[0] === '-';
  let rest = negative || text[0] === '+' ? text.slice(1) : text;
  if (rest === '0') return new Duration(0n);
  if (rest === '') return undefined;
  let total = 0n;
  while (rest !== '') {
    const part = /^(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/.exec(rest);
    if (!part || (!part[1] && !part[2])) return undefined;
    const unit = unitNanos[part[3]!]!;
    const fraction = (part[2] ?? '').slice(0, 18);
    total += BigInt(part[1] || '0') * unit + (fraction === '' ? 0n : (BigInt(fraction) * unit) / 10n ** BigInt(fraction.length));
    if (total > 2n ** 63n) return undefined;
    rest = rest.slice(part[0].length);
  }
  if (!negative && total === 2n ** 63n) return undefined;
  return new Duration(negative ? -total : total);
}

const rfc3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d?):(\d\d):(\d\d)(?:[.,](\d+))?(?:Z|([+-])(\d\d):(\d\d))$/;

/** Parses RFC 3339; undefined if it is invalid. */
export function parseRfc3339(text: string): Timestamp | CelError | undefined {
  const match = rfc3339.exec(text);
  if (!match) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [number, number, number, number, number, number];
  const [zoneHour, zoneMinute] = [Number(match[9] ?? 0), Number(match[10] ?? 0)];
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month) || hour > 23 || minute > 59 || second > 59) return undefined;
  if (zoneHour > 24 || zoneMinute > 59) return undefined;
  const offset = (match[8] === '-' ? -1 : 1) * (zoneHour * 60 + zoneMinute);
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second);
  const seconds = date.getTime() / 1000 - offset * 60;
  if (seconds < minUnixTime || seconds > maxUnixTime) return timestampOverflow;
  return new Timestamp(seconds, Number((match[7] ?? '').slice(0, 9).padEnd(9, '0')), offset);
}

function daysIn(year: number, month: number): number {
  const date = new Date(0);
  date.setUTCFullYear(year, month, 0);
  return date.getUTCDate();
}

function fractionOf(nanos: number): string {
  return nanos === 0 ? '' : `.${String(nanos).padStart(9, '0').replace(/0+$/, '')}`;
}

/** Formats `2006-01-02T15:04:05.999999999Z07:00` in the zone of the timestamp. */
export function formatTimestamp(time: Timestamp): string {
  const local = new Date((time.seconds + time.offsetMinutes * 60) * 1000);
  const date = `${String(local.getUTCFullYear()).padStart(4, '0')}-${two(local.getUTCMonth() + 1)}-${two(local.getUTCDate())}`;
  const clock = `${two(local.getUTCHours())}:${two(local.getUTCMinutes())}:${two(local.getUTCSeconds())}`;
  return `${date}T${clock}${fractionOf(time.nanos)}${formatOffset(time.offsetMinutes)}`;
}

function formatOffset(minutes: number): string {
  if (minutes === 0) return 'Z';
  const absolute = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(absolute / 60))}:${two(absolute % 60)}`;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}

/** Returns the seconds of a duration as a double, rounded like Go. */
export function durationSeconds({ nanos }: Duration): number {
  return Number(nanos / nanosPerSecond) + Number(nanos % nanosPerSecond) / 1e9;
}

/** Formats a duration in seconds: `3600s`, `1.5s`. */
export function formatDuration(duration: Duration): string {
  const seconds = durationSeconds(duration);
  return `${Math.abs(seconds) < 1e-6 && seconds !== 0 ? seconds.toFixed(9).replace(/0+$/, '') : seconds}s`;
}

/** Parts of a timestamp that the language's getters return. */
export type TimestampPart =
  | 'year'
  | 'month'
  | 'dayOfYear'
  | 'dayOfMonth'
  | 'date'
  | 'dayOfWeek'
  | 'hours'
  | 'minutes'
  | 'seconds'
  | 'milliseconds';

/** Returns a part of a timestamp in UTC or in a zone: an IANA name or an offset `[+-]hh:mm`. */
export function timestampPart(time: Timestamp, part: TimestampPart, zone?: string): Value {
  const offset = zone === undefined ? 0 : zoneOffset(time, zone);
  if (offset instanceof CelError) return offset;
  const local = new Date((time.seconds + offset) * 1000);
  switch (part) {
    case 'year':
      return local.getUTCFullYear();
    case 'month':
      return local.getUTCMonth();
    case 'dayOfYear':
      return Math.floor((Date.UTC(2000, local.getUTCMonth(), local.getUTCDate()) - Date.UTC(2000, 0, 1)) / 86_400_000) - leapDay(local);
    case 'dayOfMonth':
      return local.getUTCDate() - 1;
    case 'date':
      return local.getUTCDate();
    case 'dayOfWeek':
      return local.getUTCDay();
    case 'hours':
      return local.getUTCHours();
    case 'minutes':
      return local.getUTCMinutes();
    case 'seconds':
      return local.getUTCSeconds();
    case 'milliseconds':
      return Math.floor(time.nanos / 1_000_000);
  }
}

/** Returns 1 if the day count included 29 February in a year without it. */
function leapDay(date: Date): number {
  return date.getUTCMonth() > 1 && daysIn(date.getUTCFullYear(), 2) === 28 ? 1 : 0;
}

function zoneOffset(time: Timestamp, zone: string): number | CelError {
  const colon = zone.indexOf(':');
  if (colon >= 0) return fixedOffset(zone, colon);
  if (zone === '' || zone === 'UTC') return 0;
  return namedOffset(time, zone) ?? new CelError(`unknown time zone ${zone}`);
}

function fixedOffset(zone: string, colon: number): number | CelError {
  const [hours, minutes] = [zone.slice(0, colon), zone.slice(colon + 1)];
  for (const part of [hours, minutes]) {
    if (!/^[+-]?\d{1,9}$/.test(part)) return new CelError(`strconv.Atoi: parsing ${JSON.stringify(part)}: invalid syntax`);
  }
  return (Number(hours) * 60 + Number(minutes) * (zone[0] === '-' ? -1 : 1)) * 60;
}

const formats = new Map<string, Intl.DateTimeFormat>();
/** Maximum number of cached zones, because their names come from requests. */
const maxFormats = 100;

function namedOffset(time: Timestamp, zone: string): number | undefined {
  let format = formats.get(zone);
  if (!format) {
    try {
      format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
    } catch {
      // Intl throws a RangeError for an unknown zone.
      return undefined;
    }
    if (formats.size < maxFormats) formats.set(zone, format);
  }
  const name = format.formatToParts(new Date(time.seconds * 1000)).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const match = /^GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(name);
  if (!match) return undefined;
  const seconds = Number(match[2] ?? 0) * 3600 + Number(match[3] ?? 0) * 60 + Number(match[4] ?? 0);
  return match[1] === '-' ? -seconds : seconds;
}
