/** Validation of cron schedules. Upstream: ParseStandard of github.com/robfig/cron/v3, and time.LoadLocation. */
import { parseDuration } from '#apimachinery/runtime/duration';
import { quote } from '#apimachinery/runtime/quote';

interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

const fields: readonly Bounds[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: ['', 'jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'] },
  { min: 0, max: 6, names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] },
];
const descriptors: ReadonlySet<string> = new Set(['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly']);

/**
 * Returns the error of a schedule (`0 4 * * *`, `@daily`, `@every 1h30m`, each with an optional `TZ=…` prefix); undefined if it is valid.
 */
export function scheduleError(schedule: string): string | undefined {
  let text = schedule;
  if (text === '') return 'empty spec string';
  if (text.startsWith('TZ=') || text.startsWith('CRON_TZ=')) {
    const space = text.indexOf(' ');
    // Upstream has no check here: it returns the panic of the Go runtime.
    if (space < 0) return 'invalid schedule format: runtime error: slice bounds out of range [:-1]';
    const zone = text.slice(text.indexOf('=') + 1, space);
    if (zone !== '' && !isTimeZone(zone)) return `provided bad location ${zone}: unknown time zone ${zone}`;
    text = text.slice(space).trim();
  }
  if (text.startsWith('@')) return descriptorError(text);
  const parts = text.split(/\s+/).filter((part) => part !== '');
  if (parts.length !== fields.length) return `expected exactly 5 fields, found ${parts.length}: [${parts.join(' ')}]`;
  for (const [i, part] of parts.entries()) {
    // A list may repeat its few values 700,000 times.
    for (const range of new Set(part.split(','))) {
      const error = range === '' ? undefined : rangeError(range, fields[i]!);
      if (error !== undefined) return error;
    }
  }
  return undefined;
}

function descriptorError(text: string): string | undefined {
  if (descriptors.has(text)) return undefined;
  const every = '@every ';
  if (!text.startsWith(every)) return `unrecognized descriptor: ${text}`;
  const duration = text.slice(every.length);
  try {
    parseDuration(duration);
    return undefined;
  } catch (error) {
    return `failed to parse duration ${text}: ${(error as Error).message}`;
  }
}

/** Returns the error of one of the forms `n`, `n-m`, `*`, each with an optional `/step`. */
function rangeError(text: string, { min, max, names }: Bounds): string | undefined {
  const parts = text.split('/');
  const ends = parts[0]!.split('-');
  let start: number | string = min;
  let end: number | string = max;
  if (ends[0] !== '*' && ends[0] !== '?') {
    start = parseNumber(ends[0]!, names);
    if (typeof start === 'string') return start;
    if (ends.length > 2) return `too many hyphens: ${text}`;
    end = ends.length === 1 ? start : parseNumber(ends[1]!, names);
    if (typeof end === 'string') return end;
  }
  let step: number | string = 1;
  if (parts.length > 2) return `too many slashes: ${text}`;
  if (parts.length === 2) {
    step = parseNumber(parts[1]!);
    if (typeof step === 'string') return step;
    if (ends.length === 1) end = max;
  }
  if (start < min) return `beginning of range (${start}) below minimum (${min}): ${text}`;
  if (end > max) return `end of range (${end}) above maximum (${max}): ${text}`;
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${text}`;
  return step === 0 ? `step of range should be a positive number: ${text}` : undefined;
}

/** Number of digits of which each number is exact. */
const safeDigits = 15;

function parseNumber(text: string, names?: readonly string[]): number | string {
  const named = text === '' ? -1 : (names?.indexOf(text.toLowerCase()) ?? -1);
  if (named >= 0) return named;
  if (!/^[+-]?\d+$/.test(text)) return `failed to parse int from ${text}: strconv.Atoi: parsing ${quote(text)}: invalid syntax`;
  if (text.length <= safeDigits && text[0] !== '-') return Number(text);
  const big = BigInt(text.replace(/^\+/, ''));
  if (big !== BigInt.asIntN(64, big)) return `failed to parse int from ${text}: strconv.Atoi: parsing ${quote(text)}: value out of range`;
  return big < 0n ? `negative number (${big}) not allowed: ${text}` : Number(big);
}

/**
 * True for a name of the IANA time zone database. Go opens a file of this name, so case matters; Intl accepts any case. Each component of a
 * valid name starts with a capital.
 */
export function isTimeZone(name: string): boolean {
  if (name === 'UTC' || name === 'Local') return true;
  // Areas of more than two letters are not abbreviations.
  if (!name.split('/').every((part) => /^[A-Z]/.test(part)) || /^[A-Z]{3,}\//.test(name)) return false;
  try {
    // Node accepts names in any case, Go only in the case of the database.
    const known = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
    return known === name || known.toLowerCase() !== name.toLowerCase();
  } catch {
    return false;
  }
}
