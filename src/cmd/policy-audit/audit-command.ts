import { type Command, CommanderError, Option } from 'commander';
import { errorMessage } from '#apiserver/base/system-error';
import type { ReportGroup } from '#apiserver/admission/scan/policy-report';
import type { AuditFormat } from './audit-output.ts';
import type { FailOn } from './run-audit.ts';

interface Flags {
  readonly file: readonly string[];
  readonly config?: string;
  readonly kubeconfig?: string;
  readonly policy: readonly string[];
  readonly webhooks: boolean;
  readonly namespace: readonly string[];
  readonly resource: readonly string[];
  readonly as: string;
  readonly asGroup: readonly string[];
  readonly failOn: FailOn;
  readonly output: AuditFormat;
  readonly writeReports?: ReportGroup;
  readonly installReportCrds: boolean;
}

const reportGroups: readonly ReportGroup[] = ['openreports.io', 'wgpolicyk8s.io'];
/** Exit code of an audit that could not be completed. */
const notAudited = 2;

/** Adds `kubenest audit`, which evaluates policies on the stored objects of a cluster. `exit` receives the exit code. */
export function addAuditCommand(program: Command, exit: (code: number) => void): void {
  const list = (value: string, before: readonly string[]): string[] => [...before, value];
  const command = program
    .command('audit')
    .description('evaluate policies on the stored objects of a cluster, as if each were created now')
    .option('-f, --file <file>', 'file of policies, bindings, parameters and namespaces: evaluate only these; may be repeated', list, [])
    .option('--config <file>', 'file of kind ServerConfiguration with plugins')
    .option('--kubeconfig <file>', 'the cluster (default: the file in KUBECONFIG)')
    .option('--policy <name>', 'only the policy or plugin of this name; may be repeated', list, [])
    .option('--webhooks', 'call the validating webhooks of the cluster that have no side effects, with a dry run', false)
    .option('-n, --namespace <namespace>', 'only objects of this namespace; may be repeated', list, [])
    .option('--resource <resource>', 'only this resource, such as pods or deployments.apps; may be repeated', list, [])
    .option('--as <user>', 'user who is assumed to create the objects', 'kubenest:audit')
    .option('--as-group <group>', 'a group of the user; may be repeated', list, [])
    .addOption(new Option('--fail-on <result>', 'the results that lead to exit code 1').choices(['fail', 'warn', 'never']).default('fail'))
    .addOption(new Option('-o, --output <format>', 'output format').choices(['table', 'json', 'yaml']).default('table'))
    .addOption(
      new Option('--write-reports [group]', 'write a report about each object with violations to the cluster')
        .choices(reportGroups)
        .preset(reportGroups[0]),
    )
    .option('--install-report-crds', 'with --write-reports: create the definitions of the reports if the cluster lacks them', false)
    .addHelpText('after', '\nExit codes: 0 no violations, 1 violations (see --fail-on), 2 the audit could not be completed.')
    .exitOverride(({ exitCode, code, message }) => {
      throw new CommanderError(exitCode === 0 ? 0 : notAudited, code, message);
    });
  command
    .command('crds')
    .description('print the CustomResourceDefinitions of reports')
    .addOption(new Option('--group <group>', 'API group').choices(reportGroups).default(reportGroups[0]))
    .action(async ({ group }: { readonly group: ReportGroup }) => {
      const [{ reportDefinitions }, { stringify }] = await Promise.all([
        import('#apiserver/admission/scan/report-definitions'),
        import('yaml'),
      ]);
      console.log(
        reportDefinitions(group)
          .map((definition) => stringify(definition, { aliasDuplicateObjects: false }))
          .join('---\n')
          .trimEnd(),
      );
    });
  command.action(async () => {
    const {
      file: files,
      kubeconfig = process.env['KUBECONFIG'],
      as: name,
      asGroup,
      policy,
      namespace,
      resource,
      ...rest
    } = command.opts<Flags>();
    if (!kubeconfig) return command.error('kubenest audit: name a cluster with --kubeconfig or KUBECONFIG');
    if (rest.writeReports && (files.length > 0 || policy.length > 0))
      return command.error(
        'kubenest audit: reports have the verdicts of all policies: --write-reports cannot be combined with --file and --policy',
      );
    const { runAudit } = await import('./run-audit.ts');
    const user = { name, groups: [...asGroup, 'system:authenticated'] };
    try {
      const { code, text } = await runAudit({
        kubeconfig,
        files,
        policies: policy,
        namespaces: namespace,
        resources: resource,
        user,
        ...rest,
      });
      console.log(text);
      exit(code);
    } catch (error) {
      command.error(`kubenest audit: ${errorMessage(error)}`);
    }
  });
}
