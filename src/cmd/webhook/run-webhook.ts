import { hostname } from 'node:os';
import type { AddressInfo } from 'node:net';
import type { ServingCertificate } from '#apiserver/serving/secure-server';
import { readKeyPair } from '#cmd/certificates/key-pair-files';
import { watchFiles } from '#cmd/certificates/watch-files';
import { endOnSignal } from '#cmd/commands/end-on-signal';
import { reloadingPlugins } from '#cmd/commands/reload-plugins';
import { strayErrorsOf } from '#cmd/commands/stray-errors-of';
import { type Log, newLog } from '#cmd/logging/log';
import { CaBundles } from './certificates/ca-bundles.ts';
import { CertificateSecret } from './certificates/certificate-secret.ts';
import { ClusterApi } from './cluster/cluster-api.ts';
import { clusterConnection, podNamespace } from './cluster/connection.ts';
import { readWebhookFile, type WebhookFile } from './webhook-configuration.ts';
import { defaultNamespace, serviceHosts, type WebhookOptions } from './webhook-options.ts';
import { createWebhookServer, type WebhookServer } from './webhook-server.ts';

/** Source of the serving certificate, which may change while the server runs. */
interface Certificates extends Disposable {
  readonly first: ServingCertificate;
  /** Starts to report changes. */
  follow(server: WebhookServer): void;
}

/** Runs a webhook server until SIGTERM or SIGINT has ended it. Rejects, and leaves nothing open, if it cannot start. */
export async function runWebhook(options: WebhookOptions): Promise<void> {
  const file = await readWebhookFile(options.config);
  const log = newLog(file.verbosity);
  try {
    for (const warning of file.warnings) log.warn({}, warning);
    await serve(options, file, log);
  } finally {
    log.flush();
  }
}

async function serve(options: WebhookOptions, file: WebhookFile, log: Log): Promise<void> {
  const connection = await clusterConnection(options.kubeconfig);
  using api = new ClusterApi(connection);
  using certificates = await certificatesOf(options, api, log);
  const { bindAddress, port, requestTraces, shutdownDelay } = options;
  const server = await createWebhookServer({
    connection,
    contributions: file.contributions,
    listener: { bindAddress, port, certificate: certificates.first },
    log,
    id: hostname(),
    tracing: file.tracing,
    requestTraces,
    shutdownDelayMs: shutdownDelay * 1_000,
  });
  using _stray = strayErrorsOf(log, server.metrics, () => file.contributions).listen(process);
  const ended = endOnSignal({ log, stop: () => server.stop() });
  try {
    const address = await server.start();
    certificates.follow(server);
    using _plugins = reloadingPlugins({ log, reloadPlugins: (next) => server.reloadPlugins(next) }, reloadOf(file));
    announce(address as AddressInfo, connection.url, log);
    await ended;
  } catch (error) {
    await server.stop();
    throw error;
  }
}

function reloadOf({ file, readPlugins }: WebhookFile): Parameters<typeof reloadingPlugins>[1] {
  return { pluginFiles: [file], readPlugins };
}

function announce({ address, port }: AddressInfo, cluster: URL, log: Log): void {
  log.info({ address, port, cluster: cluster.origin }, 'the webhook server listens');
  console.log(`kubenest webhook serves admission reviews of ${cluster.origin} on https://${address}:${port}`);
}

async function certificatesOf(options: WebhookOptions, api: ClusterApi, log: Log): Promise<Certificates> {
  const { tlsCertFile: certFile, tlsPrivateKeyFile: keyFile } = options;
  if (certFile !== undefined && keyFile !== undefined)
    return new CertificateFiles(await readKeyPair(certFile, keyFile), certFile, keyFile, log);
  if (certFile !== undefined || keyFile !== undefined) throw new Error('--tls-cert-file and --tls-private-key-file must be given together');
  const namespace = options.namespace ?? (await podNamespace()) ?? defaultNamespace;
  const { name } = options;
  const secret = new CertificateSecret(api, { namespace, name: `${name}-certificates`, hosts: serviceHosts(name, namespace), logger: log });
  const { serving, authorities } = await secret.renew();
  const bundles = new CaBundles(api, name, log);
  await bundles.use(authorities);
  return {
    first: serving,
    follow: (server) =>
      secret.follow((data) => {
        server.useCertificate(data.serving);
        void bundles.use(data.authorities);
      }),
    [Symbol.dispose]() {
      secret[Symbol.dispose]();
      bundles[Symbol.dispose]();
    },
  };
}

/** A certificate in files, which is read again when they change. */
class CertificateFiles implements Certificates {
  #watch: Disposable | undefined;

  constructor(
    readonly first: ServingCertificate,
    private readonly certFile: string,
    private readonly keyFile: string,
    private readonly log: Log,
  ) {}

  follow(server: WebhookServer): void {
    const { certFile, keyFile, log } = this;
    this.#watch = watchFiles([certFile, keyFile], () => {
      readKeyPair(certFile, keyFile).then(
        (pair) => {
          server.useCertificate(pair);
          log.info({ certFile, keyFile }, 'certificate reloaded');
        },
        (error: unknown) =>
          log.error({ reason: (error as Error).message }, 'cannot reload the changed certificate; the previous one remains in use'),
      );
    });
  }

  [Symbol.dispose](): void {
    this.#watch?.[Symbol.dispose]();
  }
}
