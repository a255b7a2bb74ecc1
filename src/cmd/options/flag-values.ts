import { formatDuration } from '#apimachinery/runtime/duration';
import { flagTable } from './flag-table.ts';
import type { FlagValue } from './flag-value.ts';
import type { ServerOptions } from './server-options.ts';
import { targetsOf } from './read-server-options.ts';

/**
 * Flags whose values contain passwords, in addition to those that a configuration file sets by a reference. Upstream marks such flags too
 * (`classified`), but this server has none of those.
 */
const classified = new Set(['redis-url']);

/**
 * Returns the values of all flags as pflag prints them, including flags that have no effect. Upstream:
 * apiserver/pkg/server/flagz/flagreader.go.
 */
export function flagValues(options: ServerOptions): ReadonlyMap<string, string> {
  const targets = targetsOf(options);
  const values = new Map<string, string>();
  for (const [name, spec] of flagTable()) {
    const target = targets.get(name);
    const set = target ? (target.options[target.property] as FlagValue) : options.inert(name);
    const value = set === undefined ? (spec.flagz ?? spec.default) : formatFlagValue(spec.type, set);
    const isSecret = (classified.has(name) && value !== '') || options.isSecret(name);
    values.set(name, isSecret ? 'CLASSIFIED' : value);
  }
  return values;
}

/** Formats a flag value; inverse of `parseFlagValue`. Upstream: spf13/pflag, component-base/cli/flag. */
export function formatFlagValue(type: string, value: FlagValue): string {
  if (type === 'duration') return formatDuration(value as number);
  if (typeof value !== 'object') return String(value);
  if (!(value instanceof Map)) {
    const items = value as readonly string[];
    return type === 'namedCertKey' ? `[${items.join(';')}]` : `[${items.map(csvField).join(',')}]`;
  }
  const pairs = [...(value as ReadonlyMap<string, string>)].map(([key, one]) => `${key}=${one}`);
  if (type === 'stringToString') return `[${pairs.map(csvField).join(',')}]`;
  // A pair without a component name belongs to the only component.
  if (type === 'colonSeparatedMultimapStringString') return pairs.map((pair) => `:${pair}`).join(',');
  return pairs.sort().join(',');
}

/** Quotes a field as Go's encoding/csv does. */
function csvField(text: string): string {
  return /[",\n\r]|^\s/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
