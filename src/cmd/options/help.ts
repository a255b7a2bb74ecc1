import { describeFlag, type FlagSpec, flagTable, isOwnFlag, ownDefaults } from './flag-table.ts';
import type { FlagValue } from './flag-value.ts';
import { formatFlagValue } from './flag-values.ts';
import { defaultOptions, targetsOf } from './read-server-options.ts';
import type { ServerName } from './server-name.ts';

/** A flag as --help and the documentation show it. */
export interface DescribedFlag {
  readonly name: string;
  readonly section: string;
  readonly type: string;
  /** One-letter short form. */
  readonly short: string | undefined;
  /** True if the flag is given with a value. */
  readonly takesValue: boolean;
  /** Text of the default; undefined for none, an empty list, or false. */
  readonly default: string | undefined;
  readonly description: string;
  /** True if the flag has an effect. */
  readonly acts: boolean;
}

/** Returns the flags that are neither hidden nor deprecated, in the order of --help. */
export function describedFlags(command: ServerName): DescribedFlag[] {
  const targets = targetsOf(defaultOptions(command));
  const flags = [...flagTable()].filter(([, { hidden, deprecated }]) => !hidden && !deprecated);
  const described = flags.map(([name, spec]): DescribedFlag => {
    const target = targets.get(name);
    const own = target && isOwnFlag(name) ? formatFlagValue(spec.type, target.options[target.property] as FlagValue) : undefined;
    return {
      name,
      section: spec.section,
      type: spec.type,
      short: spec.short,
      takesValue: spec.type !== 'bool' && spec.noValue === undefined,
      default: spec.defaultText ?? shownDefault(own ?? defaultOf(name, spec, command), spec),
      description: describeFlag(name),
      acts: target !== undefined || alwaysActing.has(name),
    };
  });
  const rank = ({ section }: DescribedFlag): number => (section === 'Kubenest' ? 0 : 1);
  return described.sort((a, b) => rank(a) - rank(b) || compare(a.section, b.section) || compare(a.name, b.name));
}

/** Returns the output of `--help`: all flags by section, with types, defaults and a sentence. Flags without an effect are marked. */
export function serverHelp(command: ServerName): string {
  const lines = [
    `Usage: ${command} [flags]`,
    '',
    'Serves the Kubernetes API. Without flags: the embedded store in ./.kubenest, generated certificates, https://127.0.0.1:6443.',
    "Flags are kube-apiserver's. Flags marked with * have no effect here: the server logs a warning.",
  ];
  let section: string | undefined;
  for (const flag of describedFlags(command)) {
    if (flag.section !== section) lines.push('', `${flag.section} flags:`, '');
    ({ section } = flag);
    const value = flag.takesValue ? ` ${flag.type}` : '';
    const start = `   ${flag.acts ? ' ' : '*'} ${flag.short === undefined ? '    ' : `-${flag.short}, `}--${flag.name}${value}`;
    lines.push(`${start}${flag.default === undefined ? '' : `  (default ${flag.default})`}`, `                ${flag.description}`);
  }
  return `${lines.join('\n')}\n`;
}

/** Flags that the command reads itself. */
const alwaysActing = new Set(['config', 'help', 'version']);

function defaultOf(name: string, spec: FlagSpec, command: ServerName): string {
  return name === 'bind-address' && command === 'kube-apiserver' ? spec.default : (ownDefaults[name] ?? spec.default);
}

function shownDefault(text: string, { type }: FlagSpec): string | undefined {
  return text === '' || text === '[]' || (type === 'bool' && text === 'false') ? undefined : text;
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
