import { type Command, Option } from 'commander';
import type { ExplainOptions, ExplainVerb } from './explain.ts';

interface Flags {
  readonly file: readonly string[];
  readonly verb: ExplainVerb;
  readonly as?: string;
  readonly asGroup: readonly string[];
  readonly namespace: string;
  readonly config?: string;
  readonly kubeconfig?: string;
  readonly with: readonly string[];
  readonly output: ExplainOptions['output'];
}

/** Adds `kubenest explain`, which explains why objects would be rejected or changed. */
export function addExplainCommand(program: Command): void {
  const list = (value: string, before: readonly string[]): string[] => [...before, value];
  const command = program
    .command('explain')
    .description('explain the result of requests with objects: authorization, changes by plugins, rejections')
    .requiredOption('-f, --file <file>', 'file of objects in YAML or JSON; may be repeated', list, [])
    .addOption(new Option('--verb <verb>', 'the verb of the requests').choices(['create', 'apply', 'update', 'delete']).default('create'))
    .option('--as <user>', 'user of the requests (default: the user of the kubeconfig, or an administrator)')
    .option('--as-group <group>', 'a group of the user; may be repeated', list, [])
    .option('-n, --namespace <namespace>', 'namespace of objects that name none', 'default')
    .option('--config <file>', 'file of kind ServerConfiguration with the plugins and settings of the server in this process')
    .option(
      '--with <file>',
      'file of existing objects (roles, policies, quotas); without any, the user is authorized for all requests; may be repeated',
      list,
      [],
    )
    .option('--kubeconfig <file>', 'use a running kubenest instead of a server in this process')
    .addOption(new Option('-o, --output <format>', 'output format').choices(['tree', 'json']).default('tree'));
  command.action(async () => {
    const { file: files, as: user, asGroup: groups, with: present, ...rest } = command.opts<Flags>();
    if (files.length === 0) command.error('kubenest explain: name a file with -f');
    if (rest.kubeconfig !== undefined && (rest.config !== undefined || present.length > 0))
      command.error('kubenest explain: --config and --with configure a server in this process and cannot be combined with --kubeconfig');
    const { explain } = await import('./explain.ts');
    try {
      for await (const text of explain({ files, user, groups, present, ...rest })) console.log(text);
    } catch (error) {
      command.error(`kubenest explain: ${(error as Error).message}`);
    }
  });
}
