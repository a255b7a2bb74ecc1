import { formatDuration } from '#apimachinery/runtime/duration';
import { flagTable } from './flag-table.ts';
import type { FlagValue } from './flag-value.ts';
import type { ServerOptions } from './server-options.ts';
import { targetsOf } from './read-server-options.ts';

/** What holds passwords. Upstream marks such flags, too (`classified`), and has none on this server. */
const classified = new Set(['redis-url']);

/** The values that all flags have, as pflag prints them; of those that can have but one, that one. Upstream: apiserver/pkg/server/flagz/flagreader.go. */
export function flagValues(options: ServerOptions): ReadonlyMap<string, string> {
  const targets = targetsOf(options);
  const values = new Map<string, string>();
  for (const [name, spec] of flagTable()) {
    const target = targets.get(name);
    const set = target ? (target.options[target.property] as FlagValue) : options.inert(name);
    const value = set === undefined ? (spec.flagz ?? spec.default) : formatFlagValue(spec.type, set);
    values.set(name, classified.has(name) && value !== '' ? 'CLASSIFIED' : value);
  }
  return values;
}

/** The opposite of `parseFlagValue`. Upstream: spf13/pflag, component-base/cli/flag. */
export function formatFlagValue(type: string, value: FlagValue): string {
  if (type === 'duration') return formatDuration(value as number);
  if (typeof value !== 'object') return String(value);
  if (!(value instanceof Map)) {
    const items = value as readonly string[];
    return type === 'namedCertKey' ? `[${items.join(';')}]` : `[${items.map(csvField).join(',')}]`;
  }
  const pairs = [...(value as ReadonlyMap<string, string>)].map(([key, one]) => `${key}=${one}`);
  if (type === 'stringToString') return `[${pairs.map(csvField).join(',')}]`;
  // The component before the colon is the only one.
  if (type === 'colonSeparatedMultimapStringString') return pairs.map((pair) => `:${pair}`).join(',');
  return pairs.sort().join(',');
}

/** Go's encoding/csv. */
function csvField(text: string): string {
  return /[",\n\r]|^\s/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
