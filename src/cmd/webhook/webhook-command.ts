import { type Command, InvalidArgumentError, Option } from 'commander';
import { failsWith2 } from '#cmd/commands/verdict-exit';
import type { ExplainReviewsOptions } from './explain-reviews.ts';
import type { ManifestOptions } from './manifests/webhook-manifests.ts';
import { defaultName, defaultNamespace, type WebhookOptions } from './webhook-options.ts';

/**
 * Adds `kubenest webhook`, which serves packages as admission webhooks of clusters that run another API server. `exitWith` receives the
 * exit code of `kubenest webhook explain`: 0 if all requests are admitted, otherwise 1. Its errors exit with 2.
 */
export function addWebhookCommand(program: Command, exitWith: (code: number) => void): void {
  const webhook = program
    .command('webhook')
    .description('serve the admission plugins of packages as webhooks of a cluster with another API server')
    .option('--config <file>', 'file of kind ServerConfiguration that names the packages (required)')
    .option('--kubeconfig <file>', "kubeconfig of the cluster (default: the pod's service account)")
    .option('--bind-address <address>', 'address to listen on', '0.0.0.0')
    .option('--port <port>', 'port to listen on', numberWithin(0, 65_535), 9443)
    .option('--tls-cert-file <file>', 'serving certificate, read again when it changes (default: a Secret that the replicas share)')
    .option('--tls-private-key-file <file>', 'key of the serving certificate')
    .option('--name <name>', 'name of the Service and of the webhook configurations', defaultName)
    .option('--namespace <namespace>', `namespace of the Service and of the Secret (default: the pod's, else ${defaultNamespace})`)
    .option('--request-traces <count>', 'number of the last reviews whose traces /debug/traces keeps', numberWithin(0, 10_000), 0)
    .option('--shutdown-delay <seconds>', 'seconds from SIGTERM until the port closes', numberWithin(0, 300), 0)
    .action(() => exitOnError(() => serve(webhook)));
  const list = (value: string, before: readonly string[]): string[] => [...before, value];
  const manifests = webhook
    .command('manifests')
    .description('print the objects that run the webhook server in a cluster, and its webhook configurations')
    .option('--config <file>', 'file of kind ServerConfiguration that names the packages (required)')
    .option('--name <name>', 'name of the objects', defaultName)
    .option('--namespace <namespace>', 'namespace of the objects', defaultNamespace)
    .option('--image <image>', 'image with kubenest and the packages, whose entry point is kubenest (required without --url)')
    .option('--replicas <count>', 'number of replicas', numberWithin(1, 100), 3)
    .option('--exclude-namespace <namespace>', 'namespace whose requests the webhooks do not get; may be repeated', list, [])
    .option('--url <url>', 'URL of a webhook server outside of the cluster; prints only the webhook configurations')
    .option('--ca-file <file>', 'authorities of the serving certificate (default: the server sets them)')
    .action(() => exitOnError(() => print(manifests)));
  const explain = webhook
    .command('explain')
    .description('explain what the packages would do with objects in a cluster: their changes, warnings and denials')
    .option('--config <file>', 'file of kind ServerConfiguration that names the packages (required)')
    .option('--kubeconfig <file>', "kubeconfig of the cluster (default: the pod's service account)")
    .option('-f, --file <file>', 'file of objects in YAML or JSON; may be repeated', list, [])
    .addOption(new Option('--verb <verb>', 'the verb of the requests').choices(['create', 'update', 'delete']).default('create'))
    .option('--as <user>', 'user of the requests (default: the user of the kubeconfig)')
    .option('--as-group <group>', 'a group of the user; may be repeated', list, [])
    .option('-n, --namespace <namespace>', 'namespace of objects that name none', 'default')
    .addHelpText('after', '\nExit codes: 0 all requests are admitted, 1 one is not, 2 an error.')
    .action(() => exitOnError(async () => exitWith((await explainAll(explain)) ? 0 : 1), explain));
  failsWith2(explain);

  async function exitOnError(work: () => Promise<void>, failing: Command = program): Promise<void> {
    try {
      await work();
    } catch (error) {
      const { message, problems = [message] } = error as Error & { readonly problems?: readonly string[] };
      failing.error(problems.map((problem) => `kubenest webhook: ${problem}`).join('\n'));
    }
  }
}

async function serve(webhook: Command): Promise<void> {
  const options = webhook.opts<WebhookOptions>();
  assertGiven(options.config, '--config');
  const { runWebhook } = await import('./run-webhook.ts');
  await runWebhook(options);
}

async function print(manifests: Command): Promise<void> {
  const options = manifests.opts<ManifestOptions>();
  assertGiven(options.config, '--config');
  if (options.url === undefined) assertGiven(options.image, '--image');
  const { webhookManifests } = await import('./manifests/webhook-manifests.ts');
  console.log((await webhookManifests(options)).trimEnd());
}

/** Prints the explanations. Resolves to true if all requests are admitted. */
async function explainAll(explain: Command): Promise<boolean> {
  const options = explain.opts<ExplainReviewsOptions>();
  assertGiven(options.config, '--config');
  assertGiven(options.file[0], '--file');
  const { explainReviews } = await import('./explain-reviews.ts');
  let areAdmitted = true;
  for await (const { text, allowed } of explainReviews(options)) {
    console.log(text);
    areAdmitted &&= allowed;
  }
  return areAdmitted;
}

function assertGiven(value: string | undefined, flag: string): void {
  if (value === undefined) throw new Error(`${flag} is required`);
}

/** Returns a parser of whole numbers within limits. */
function numberWithin(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < least || value > most)
      throw new InvalidArgumentError(`it must be a number from ${least} to ${most}.`);
    return value;
  };
}
