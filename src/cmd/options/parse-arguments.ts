import type { FlagSpec } from './flag-table.ts';
import { nearestName } from './nearest-name.ts';

export interface ParsedArguments {
  /** Texts of each given flag in order. */
  readonly texts: ReadonlyMap<string, readonly string[]>;
  readonly errors: readonly string[];
}

/**
 * Splits a command line as pflag does: `--flag=value`, `--flag value`, `--bool`, `-v=3`, `-v 3`, `-v3`, underscores for dashes, `--` before
 * positional arguments. The only valid positional arguments are empty ones, which shell scripts produce. Upstream:
 * kubernetes/cmd/kube-apiserver/app/server.go (NewAPIServerCommand, Args).
 */
export function parseArguments(args: readonly string[], flags: ReadonlyMap<string, FlagSpec>): ParsedArguments {
  const texts = new Map<string, string[]>();
  const errors: string[] = [];
  const shorts = new Map([...flags].flatMap(([name, { short }]) => (short === undefined ? [] : [[short, name] as const])));
  const rest = [...args];
  const extra: string[] = [];

  const take = (name: string, shown: string, value: string | undefined): void => {
    const spec = flags.get(name) as FlagSpec;
    const text = value ?? spec.noValue ?? (spec.type === 'bool' ? 'true' : rest.shift());
    if (text === undefined) errors.push(`flag needs an argument: ${shown}`);
    else texts.set(name, [...(texts.get(name) ?? []), text]);
  };

  for (let argument = rest.shift(); argument !== undefined; argument = rest.shift()) {
    if (argument === '--') {
      extra.push(...rest.splice(0));
    } else if (argument.startsWith('--')) {
      const [written, value] = splitAtEquals(argument.slice(2));
      const name = written.replaceAll('_', '-');
      if (flags.has(name)) take(name, `--${name}`, value);
      else {
        const nearest = nearestName(name, flags.keys());
        errors.push(`unknown flag: --${name}${nearest === undefined ? '' : `; did you mean --${nearest}?`}`);
        // Skips the value of the unknown flag, which would otherwise be reported as a positional argument.
        if (value === undefined && rest[0] !== undefined && !rest[0].startsWith('-')) rest.shift();
      }
    } else if (argument.startsWith('-') && argument.length > 1) {
      const letter = argument.charAt(1);
      const name = shorts.get(letter);
      const value = argument.length > 2 ? argument.slice(argument[2] === '=' ? 3 : 2) : undefined;
      if (name === undefined) errors.push(`unknown shorthand flag: ${JSON.stringify(letter)} in ${argument}`);
      else take(name, `-${letter}`, value);
    } else {
      extra.push(argument);
    }
  }
  const filled = extra.filter((argument) => argument !== '');
  if (filled.length > 0) errors.push(`unexpected positional arguments: ${filled.map((argument) => JSON.stringify(argument)).join(' ')}`);
  return { texts, errors };
}

function splitAtEquals(text: string): [name: string, value: string | undefined] {
  const at = text.indexOf('=');
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}
