import { readFileSync } from 'node:fs';

let prefixes: ReadonlyMap<string, string> | undefined;

/**
 * What stands before the help of a metric of upstream's: `[STABLE] `, `[ALPHA] (Deprecated since 1.30.0) `. Nothing for others, which
 * promise nothing, and for those of the process. Read when somebody asks for metrics first.
 */
export function stabilityOf(name: string): string {
  prefixes ??= new Map(
    Object.entries(JSON.parse(readFileSync(new URL('./stability.gen.json', import.meta.url), 'utf8')) as Record<string, string[]>).flatMap(
      ([prefix, names]) => names.map((one) => [one, prefix] as const),
    ),
  );
  return prefixes.get(name) ?? '';
}
