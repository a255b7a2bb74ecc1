import { type FlagSpec, flagTable, shownDefault } from './flag-table.ts';
import { defaultOptions, targetsOf } from './read-server-options.ts';
import type { ServerName } from './server-name.ts';

/** Returns the output of `--help`: all flags by section, with types and defaults. Flags without an effect are marked. */
export function serverHelp(command: ServerName): string {
  const targets = targetsOf(defaultOptions(command));
  const sections = new Map<string, [name: string, spec: FlagSpec][]>();
  for (const [name, spec] of flagTable()) {
    if (spec.hidden || spec.deprecated) continue;
    const flags = sections.get(spec.section) ?? [];
    flags.push([name, spec]);
    sections.set(spec.section, flags);
  }
  const order = [...sections.keys()].sort((a, b) => Number(b === 'Kubenest') - Number(a === 'Kubenest') || (a < b ? -1 : 1));
  const lines = [
    `Usage: ${command} [flags]`,
    '',
    'Serves the Kubernetes API. Without flags: the embedded store in ./.kubenest, generated certificates, https://127.0.0.1:6443.',
    "Flags are kube-apiserver's. Flags marked with * have no effect here: the server logs a warning.",
  ];
  for (const section of order) {
    lines.push('', `${section} flags:`, '');
    for (const [name, spec] of (sections.get(section) ?? []).sort(([a], [b]) => (a < b ? -1 : 1)))
      lines.push(line(name, spec, { acts: targets.has(name), command }));
  }
  return `${lines.join('\n')}\n`;
}

const alwaysActing = new Set(['config', 'help', 'version']);

function line(name: string, spec: FlagSpec, { acts, command }: { readonly acts: boolean; readonly command: ServerName }): string {
  const value = spec.type === 'bool' || spec.noValue !== undefined ? '' : ` ${spec.type}`;
  const shown = shownDefault(name, spec, command);
  const plain = shown === '' || shown === '[]' || (spec.type === 'bool' && shown === 'false');
  const mark = acts || alwaysActing.has(name) ? ' ' : '*';
  return `   ${mark} ${spec.short === undefined ? '    ' : `-${spec.short}, `}--${name}${value}${plain ? '' : `  (default ${shown})`}`;
}
