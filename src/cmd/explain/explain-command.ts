import { type Command, Option } from 'commander';
import { errorMessage } from '#apiserver/base/system-error';
import { failsWith2 } from '#cmd/commands/verdict-exit';
import type { Explanation, ExplainVerb } from './explain.ts';

interface Flags {
  readonly file: readonly string[];
  readonly verb: ExplainVerb;
  readonly as?: string;
  readonly asGroup: readonly string[];
  readonly namespace: string;
  readonly config?: string;
  readonly kubeconfig?: string;
  readonly with: readonly string[];
  readonly output: 'tree' | 'json';
  readonly diff: boolean;
}

/**
 * Adds `kubenest explain`, which explains why objects would be rejected or changed. `exitWith` receives the exit code: 0 if all requests
 * are admitted, otherwise 1. Errors exit with 2.
 */
export function addExplainCommand(program: Command, exitWith: (code: number) => void): void {
  const list = (value: string, before: readonly string[]): string[] => [...before, value];
  const command = failsWith2(program.command('explain'))
    .description(
      'explain the result of requests with objects: authorization, changes by plugins, rejections. Exits with 0 if all requests are admitted, with 1 if one is not, with 2 on an error.',
    )
    .requiredOption('-f, --file <file>', 'file or folder of objects in YAML or JSON, or - for standard input; may be repeated', list, [])
    .addOption(new Option('--verb <verb>', 'the verb of the requests').choices(['create', 'apply', 'update', 'delete']).default('create'))
    .option('--as <user>', 'user of the requests (default: the user of the kubeconfig, or an administrator)')
    .option('--as-group <group>', 'a group of the user; may be repeated', list, [])
    .option('-n, --namespace <namespace>', 'namespace of objects that name none', 'default')
    .option('--config <file>', 'file of kind ServerConfiguration with the plugins and settings of the server in this process')
    .option(
      '--with <file>',
      'file or folder of existing objects (namespaces, roles, policies, quotas); without roles and bindings among them, the user is authorized for all requests; may be repeated',
      list,
      [],
    )
    .option('--kubeconfig <file>', 'use a running kubenest instead of a server in this process')
    .option('--diff', 'show the difference between the sent object and the one that would be stored', false)
    .addOption(new Option('-o, --output <format>', 'output format').choices(['tree', 'json']).default('tree'));
  command.action(async () => {
    const { file: files, as: user, asGroup: groups, with: present, output, diff, ...rest } = command.opts<Flags>();
    if (files.length === 0) command.error('kubenest explain: name a file with -f');
    if (rest.kubeconfig !== undefined && (rest.config !== undefined || present.length > 0))
      command.error('kubenest explain: --config and --with configure a server in this process and cannot be combined with --kubeconfig');
    if (user === undefined && groups.length > 0) command.error('kubenest explain: --as-group needs --as');
    const [{ explain }, { explanationText }] = await Promise.all([import('./explain.ts'), import('./explanation-text.ts')]);
    const items: Explanation[] = [];
    try {
      for await (const item of explain({ files, user, groups, present, ...rest })) {
        items.push(item);
        if (output === 'tree') console.log(explanationText(item, diff));
      }
    } catch (error) {
      command.error(`kubenest explain: ${errorMessage(error)}`);
    }
    if (output === 'json') console.log(JSON.stringify({ apiVersion: 'kubenest.dev/v1alpha1', kind: 'ExplanationList', items }, null, 2));
    exitWith(items.every(({ verdict }) => verdict === 'admitted') ? 0 : 1);
  });
}
