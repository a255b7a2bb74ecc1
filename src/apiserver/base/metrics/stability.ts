import { readFileSync } from 'node:fs';

let prefixes: ReadonlyMap<string, string> | undefined;

/**
 * Returns the stability prefix of an upstream metric's help: `[STABLE] `, `[ALPHA] (Deprecated since 1.30.0) `. Empty for own
 * metrics and for process metrics. The table is read on first use.
 */
export function stabilityOf(name: string): string {
  prefixes ??= new Map(
    Object.entries(JSON.parse(readFileSync(new URL('./stability.gen.json', import.meta.url), 'utf8')) as Record<string, string[]>).flatMap(
      ([prefix, names]) => names.map((one) => [one, prefix] as const),
    ),
  );
  return prefixes.get(name) ?? '';
}
