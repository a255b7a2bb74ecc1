import { quote } from './quote.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/**
 * Formats a duration in milliseconds with two or three digits: `45s`, `2m5s`, `3h10m`, `12d`, `2y40d`. Down to two seconds below zero is
 * 0s, for clock skew; less is `<invalid>`. Upstream: apimachinery/pkg/util/duration.
 */
export function humanDuration(milliseconds: number): string {
  const seconds = Math.trunc(milliseconds / second);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(milliseconds / minute);
  if (minutes < 10) return two(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(milliseconds / hour);
  if (hours < 8) return two(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  if (hours < 24 * 8) return two(days, 'd', hours % 24, 'h');
  if (hours < 24 * 365 * 2) return `${days}d`;
  const years = Math.floor(days / 365);
  return hours < 24 * 365 * 8 ? two(years, 'y', days % 365, 'd') : `${years}y`;
}

function two(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`;
}

const unitMilliseconds: Readonly<Record<string, number>> = { ns: 1e-6, us: 1e-3, µs: 1e-3, μs: 1e-3, ms: 1, s: second, m: minute, h: hour };

/**
 * Parses a duration in Go's syntax to milliseconds: `1h30m`, `-1.5s`, `300ms`, `0`. Throws an Error with Go's message if it is malformed.
 * Upstream: Go's time.ParseDuration.
 */
export function parseDuration(text: string): number {
  const invalid = () => new Error(`time: invalid duration ${quote(text)}`);
  let rest = /^[-+]/.test(text) ? text.slice(1) : text;
  if (rest === '0') return 0;
  if (rest === '') throw invalid();
  let total = 0;
  while (rest !== '') {
    const number = /^(?:\d+\.?\d*|\.\d+)/.exec(rest)?.[0];
    if (number === undefined) throw invalid();
    rest = rest.slice(number.length);
    const unit = /^[^.\d]*/.exec(rest)?.[0] ?? '';
    if (unit === '') throw new Error(`time: missing unit in duration ${quote(text)}`);
    const factor = Object.hasOwn(unitMilliseconds, unit) ? unitMilliseconds[unit] : undefined;
    if (factor === undefined) throw new Error(`time: unknown unit ${quote(unit)} in duration ${quote(text)}`);
    rest = rest.slice(unit.length);
    total += Number(number) * factor;
    if (total > 9_223_372_036_854.775) throw invalid();
  }
  return text.startsWith('-') ? -total : total;
}

/** Formats whole milliseconds as Go prints a duration: `1h0m0s`, `1m30s`, `1.5s`, `250ms`, `0s`. */
export function formatDuration(milliseconds: number): string {
  const sign = milliseconds < 0 ? '-' : '';
  const ms = Math.abs(Math.round(milliseconds));
  if (ms === 0) return '0s';
  if (ms < 1_000) return `${sign}${ms}ms`;
  const hours = Math.floor(ms / 3_600_000);
  const minutes = Math.floor((ms % 3_600_000) / 60_000);
  const seconds = `${(ms % 60_000) / 1_000}s`;
  if (hours > 0) return `${sign}${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${sign}${minutes}m${seconds}` : `${sign}${seconds}`;
}
