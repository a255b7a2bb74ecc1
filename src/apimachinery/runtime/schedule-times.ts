/** Times of cron expressions, as of CronJobs. Upstream: ParseStandard and SpecSchedule.Next of github.com/robfig/cron/v3. */

/** Times at which something happens. */
export interface ScheduleTimes {
  /** Returns the first time after `afterMs`, in milliseconds; undefined if there is none within five years. */
  next(afterMs: number): number | undefined;
}

interface Field {
  readonly values: ReadonlySet<number>;
  /** True for `*` without a step, which makes days of the month and of the week both necessary. */
  readonly isAny: boolean;
}

interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

const bounds: readonly Bounds[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: ['', 'jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'] },
  { min: 0, max: 6, names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] },
];
const descriptors: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};
const units: Readonly<Record<string, number>> = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Reads a schedule. `timeZone`: name of its zone unless it has a prefix `TZ=`; default: that of the process. Throws for an invalid one. */
export function parseSchedule(schedule: string, timeZone?: string): ScheduleTimes {
  const match = /^(?:CRON_)?TZ=(\S*)\s+(.*)$/s.exec(schedule);
  const text = (match?.[2] ?? schedule).trim();
  const zone = new Zone(match ? match[1] || 'UTC' : timeZone);
  if (text.startsWith('@every ')) return every(text.slice('@every '.length));
  const parts = (descriptors[text] ?? text).split(/\s+/);
  if (parts.length !== bounds.length) throw new Error(`expected exactly 5 fields, found ${parts.length}: [${parts.join(' ')}]`);
  const [minute, hour, day, month, weekday] = parts.map((part, at) => parseField(part, bounds[at] as Bounds));
  return new FieldSchedule({ minute, hour, day, month, weekday } as Fields, zone);
}

function every(duration: string): ScheduleTimes {
  const parts = [...duration.matchAll(/(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)?/g)];
  const millis = parts.reduce((sum, [, number, unit]) => sum + Number(number) * (units[unit ?? ''] ?? 0), 0);
  const delay = Math.max(1_000, Math.floor(millis / 1_000) * 1_000);
  return { next: (afterMs) => Math.floor(afterMs / 1_000) * 1_000 + delay };
}

function parseField(text: string, limits: Bounds): Field {
  const values = new Set<number>();
  let isAny = false;
  for (const range of text.split(',')) {
    const [ends = '', stepText] = range.split('/');
    const step = stepText === undefined ? 1 : Number(stepText);
    const isStar = ends === '*' || ends === '?';
    const [first, last] = ends.split('-').map((end) => numberOf(end, limits));
    const start = isStar ? limits.min : (first as number);
    const end = isStar || (last === undefined && stepText !== undefined) ? limits.max : (last ?? start);
    if (!(start >= limits.min && end <= limits.max && start <= end && step > 0)) throw new Error(`invalid range: ${range}`);
    for (let value = start; value <= end; value += step) values.add(value);
    isAny ||= isStar && step === 1;
  }
  return { values, isAny };
}

function numberOf(text: string, { names }: Bounds): number {
  const named = names?.indexOf(text.toLowerCase()) ?? -1;
  return named >= 0 && text !== '' ? named : Number(text);
}

interface Fields {
  readonly minute: Field;
  readonly hour: Field;
  readonly day: Field;
  readonly month: Field;
  readonly weekday: Field;
}

class FieldSchedule implements ScheduleTimes {
  constructor(
    readonly fields: Fields,
    readonly zone: Zone,
  ) {}

  next(afterMs: number): number | undefined {
    const { minute, hour, month } = this.fields;
    const { zone } = this;
    let at = (Math.floor(afterMs / 1_000) + 1) * 1_000;
    if (at % minuteMs !== 0) at = Math.floor(at / minuteMs) * minuteMs + minuteMs;
    const limit = zone.local(at).getUTCFullYear() + 5;
    for (;;) {
      const local = zone.local(at);
      if (local.getUTCFullYear() > limit) return undefined;
      const [y, m, d] = [local.getUTCFullYear(), local.getUTCMonth(), local.getUTCDate()];
      if (!month.values.has(m + 1)) at = midnight(zone, zone.instant(y, m + 1, 1));
      else if (!this.#hasDay(local)) at = midnight(zone, zone.instant(y, m, d + 1));
      else if (!hour.values.has(local.getUTCHours())) at = this.#nextHour(at, local);
      else if (!minute.values.has(local.getUTCMinutes())) at += minuteMs;
      else return at;
    }
  }

  #nextHour(at: number, local: Date): number {
    return at - local.getUTCMinutes() * minuteMs + hourMs;
  }

  #hasDay(local: Date): boolean {
    const { day, weekday } = this.fields;
    const [isDay, isWeekday] = [day.values.has(local.getUTCDate()), weekday.values.has(local.getUTCDay())];
    return day.isAny || weekday.isAny ? isDay && isWeekday : isDay || isWeekday;
  }
}

/** Corrects the start of a day whose midnight does not exist. */
function midnight(zone: Zone, at: number): number {
  const hours = zone.local(at).getUTCHours();
  if (hours === 0) return at;
  return hours > 12 ? at + (24 - hours) * hourMs : at - hours * hourMs;
}

/** A time zone. */
export class Zone {
  readonly #format: Intl.DateTimeFormat | undefined;

  /** Throws for an unknown name. */
  constructor(name: string | undefined) {
    const isUtc = name === 'UTC';
    this.#format = isUtc ? undefined : new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' });
  }

  /** Returns the distance from UTC, in milliseconds. */
  offset(at: number): number {
    if (!this.#format) return 0;
    const name = this.#format.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? '';
    const [, sign, hours, minutes, seconds] = /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?/.exec(name) ?? [];
    const distance = Number(hours ?? 0) * hourMs + Number(minutes ?? 0) * minuteMs + Number(seconds ?? 0) * 1_000;
    return sign === '-' ? -distance : distance;
  }

  /** Returns a date whose UTC parts are the local ones at the time. */
  local(at: number): Date {
    return new Date(at + this.offset(at));
  }

  /** Returns the time of a local midnight, as Go's time.Date does where that is ambiguous. */
  instant(year: number, month: number, day: number): number {
    const wall = Date.UTC(year, month, day);
    return wall - this.offset(wall - this.offset(wall));
  }

  /** Formats a time with its distance from UTC: `2026-01-01T02:00:00+02:00`. */
  format(at: number): string {
    const text = this.local(at).toISOString().slice(0, 19);
    const minutes = this.offset(at) / minuteMs;
    if (minutes === 0) return `${text}Z`;
    const [hour, minute] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60].map((part) => String(part).padStart(2, '0'));
    return `${text}${minutes < 0 ? '-' : '+'}${hour}:${minute}`;
  }
}
