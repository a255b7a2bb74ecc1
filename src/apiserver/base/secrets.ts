/** Length from which a value is searched for in texts: a shorter one occurs by chance in many. */
const shortest = 8;

const redacted = '[redacted]';

/** Values and their forms in JSON. Process-wide, because log and error texts are. */
const values = new Set<string>();
let pattern: RegExp | undefined;

/** Registers a value that must not be printed. */
export function registerSecret(value: string): void {
  // A file may contain several lines, such as a key in PEM, of which an error prints one.
  for (const line of [value, ...value.split('\n')].map((text) => text.trim()))
    if (line.length >= shortest) values.add(line).add(JSON.stringify(line).slice(1, -1));
  const longestFirst = [...values].toSorted((a, b) => b.length - a.length).map((text) => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'));
  pattern = longestFirst.length > 0 ? new RegExp(longestFirst.join('|'), 'g') : undefined;
}

/** Replaces registered values in a text. */
export function redactSecrets(text: string): string {
  return pattern ? text.replace(pattern, redacted) : text;
}
