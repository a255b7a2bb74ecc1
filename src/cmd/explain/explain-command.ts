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

/** `kubenest explain`: why objects would be refused, or changed. */
export function addExplainCommand(program: Command): void {
  const list = (value: string, before: readonly string[]): string[] => [...before, value];
  const command = program
    .command('explain')
    .description('tell what a server would do with objects, and why: who may, which plugins change what, what is refused')
    .requiredOption('-f, --file <file>', 'of objects in YAML or JSON; may be repeated', list, [])
    .addOption(new Option('--verb <verb>', 'what is done with them').choices(['create', 'apply', 'update', 'delete']).default('create'))
    .option('--as <user>', 'who does it (default: an administrator, or whom the kubeconfig names)')
    .option('--as-group <group>', 'a group of the user; may be repeated', list, [])
    .option('-n, --namespace <namespace>', 'of objects that name none', 'default')
    .option('--config <file>', 'of kind ServerConfiguration: its plugins and settings are those of the server in this process')
    .option(
      '--with <file>',
      'objects that are there before (roles, policies, quotas); without any, the user may do everything; may be repeated',
      list,
      [],
    )
    .option('--kubeconfig <file>', 'ask a kubenest that runs, instead of one in this process')
    .addOption(new Option('-o, --output <format>', 'how it is told').choices(['tree', 'json']).default('tree'));
  command.action(async () => {
    const { file: files, as: user, asGroup: groups, with: present, ...rest } = command.opts<Flags>();
    if (files.length === 0) command.error('kubenest explain: name a file with -f');
    if (rest.kubeconfig !== undefined && (rest.config !== undefined || present.length > 0))
      command.error('kubenest explain: --config and --with are of the server in this process, --kubeconfig names another');
    const { explain } = await import('./explain.ts');
    try {
      for await (const text of explain({ files, user, groups, present, ...rest })) console.log(text);
    } catch (error) {
      command.error(`kubenest explain: ${(error as Error).message}`);
    }
  });
}
