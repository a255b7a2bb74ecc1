import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { systemClock } from '#apiserver/base/clock';
import type { ConnectionSource } from '#apiserver/serving/secure-server';
import { writeKubeconfig } from '#cmd/certificates/kubeconfig';
import { watchFiles } from '#cmd/certificates/watch-files';
import type { App, AppExtensions } from '#cmd/app';
import { Contributions } from '#cmd/modules/contributions';
import { optimizeSooner, tendEngine } from '#cmd/engine/engine';
import { type CompletedOptions, completeOptions } from '#cmd/options/complete';
import type { ServerOptions } from '#cmd/options/server-options';
import { Metrics } from '#apiserver/base/metrics/metrics';
import { endOnSignal } from './end-on-signal.ts';
import { endWithParent } from './parent-process.ts';
import { reloadingPlugins } from './reload-plugins.ts';
import { strayErrorsOf } from './stray-errors-of.ts';
import type { AuthenticationConfig } from '#cmd/server-config';

/** Callbacks for the caller that runs a server. */
export interface RunListeners extends Pick<AppExtensions, 'onTrace'> {
  /** Receives the startup message, which is otherwise written to standard output. */
  readonly onStarted?: (text: string) => void;
  /** Configuration file whose changes replace the process, so that the server does not follow it. */
  readonly restartFile?: string;
  /** Source of the connections; default: the server listens. */
  readonly source?: ConnectionSource;
}

/**
 * Runs a server until SIGTERM or SIGINT has ended it; a second signal ends the process at once. Rejects, and leaves nothing open, if the
 * server cannot start.
 */
export async function runServer(
  options: ServerOptions,
  { onTrace, onStarted = console.log, restartFile, source }: RunListeners = {},
): Promise<void> {
  // This thread loads the server while other threads create certificates.
  const [completed, { createApp }] = await Promise.all([completeOptions(options), import('#cmd/app')]);
  const { serving } = completed.config;
  const config = { ...completed.config, serving: serving && { ...serving, source } };
  using _parent = options.shutdown.exitWithParent ? endWithParent() : undefined;
  let app: App | undefined;
  try {
    app = await createApp(config, { onTrace });
    for (const warning of completed.warnings) app.log.warn({}, warning);
    const contributions = app.nest.get<Contributions>(Contributions, { strict: false });
    using _stray = strayErrorsOf(app.log, app.nest.get<Metrics>(Metrics, { strict: false }), () => contributions.all).listen(process);
    const ended = endOnSignal(app);
    const address = await app.start();
    const url = servedUrl(completed, address);
    const kubeconfig = await writeKubeconfigs(options, completed, url);
    using _watch = watchFiles(completed.tlsFiles, () => void reloadCertificates(app as App, completed));
    using _engine = tendEngine();
    const { authenticationFiles, authorizationFiles, readAuthentication, readAuthorization } = completed;
    using _authentication = reloading(app, authenticationFiles, readAuthentication, app.reloadAuthentication);
    using _trust = followingAuthentication(app, completed);
    using _encryption = reloading(app, completed.encryptionFiles, completed.readEncryption, app.reloadEncryption);
    using _audit = reloading(app, completed.auditFiles, completed.readAudit, app.reloadAudit);
    using _aggregation = reloading(app, completed.aggregationFiles, completed.readAggregation, app.reloadAggregation);
    using _plugins = reloadingPlugins(app, completed, restartFile);
    using _authorization = reloading(app, authorizationFiles, readAuthorization, app.reloadAuthorization);
    onStarted(started(url, kubeconfig));
    using _controllers = { [Symbol.dispose]: systemClock.after(controllersAfterMs, app.startControllers) };
    optimizeSooner();
    await ended;
  } catch (error) {
    await app?.stop();
    throw error;
  } finally {
    await completed.dispose();
    app?.log.flush();
  }
}

/** Time from readiness to the start of the controllers, in which the clients that wait for readiness get their answers. */
const controllersAfterMs = 200;

/**
 * Reloads the certificates. Temporary problems, such as a certificate that is replaced before its key, are logged, and the previous
 * certificates remain in use.
 */
async function reloadCertificates(app: App, { readTls, tlsFiles }: CompletedOptions): Promise<void> {
  try {
    app.reloadCertificates(await readTls());
    app.log.info({ files: tlsFiles }, 'certificates reloaded');
  } catch (error) {
    app.log.error({ reason: (error as Error).message }, 'cannot reload the changed certificates; the previous ones remain in use');
  }
}

/** Reloads a configuration when its files change. Problems are logged, and the previous configuration remains in use. */
function reloading<T>(
  { log }: App,
  files: readonly string[],
  read: () => Promise<T>,
  apply: (config: T) => void | Promise<void>,
): Disposable {
  return watchFiles(files, () => {
    read()
      .then(apply)
      .then(
        () => log.info({ files }, 'configuration reloaded'),
        (error: unknown) =>
          log.error(
            { files, reason: (error as Error).message },
            'cannot reload the changed configuration; the previous one remains in use',
          ),
      );
  });
}

/**
 * Follows the trusted authorities of the server that this one delegates to, and applies changes. Problems are logged, and the previous
 * authorities remain in use.
 */
function followingAuthentication(app: App, { config, readAuthentication, watchAuthentication }: CompletedOptions): Disposable | undefined {
  let known = trustOf(config.authentication);
  const changed = async (): Promise<void> => {
    const next = await readAuthentication();
    if (trustOf(next) === known) return;
    app.reloadAuthentication(next);
    known = trustOf(next);
  };
  const failed = (error: unknown): void =>
    app.log.error({ reason: (error as Error).message }, 'cannot follow the authentication information of the delegated server');
  return watchAuthentication?.({ changed, failed });
}

function trustOf({ delegatedClientCa, requestHeader }: AuthenticationConfig): string {
  return JSON.stringify([delegatedClientCa, requestHeader]);
}

/** Returns the URL of the server, with the actual port if the server chose one. */
function servedUrl({ url }: CompletedOptions, address: AddressInfo | undefined): string {
  const served = new URL(url);
  if (served.port === '0' && address) served.port = String(address.port);
  return served.origin;
}

/** Writes the administrator's kubeconfig. Returns the file that a flag names, else the file in the data folder. */
async function writeKubeconfigs(
  { serving: { kubeconfigOut } }: ServerOptions,
  { admin }: CompletedOptions,
  server: string,
): Promise<string | undefined> {
  if (!admin) return undefined;
  const { kubeconfig, ca, client } = admin;
  const files = kubeconfigOut === '' ? [kubeconfig] : [resolve(kubeconfigOut), kubeconfig];
  for (const file of files) await writeKubeconfig(file, { server, ca, client });
  return files[0];
}

function started(url: string, kubeconfig: string | undefined): string {
  const lines = [`kubenest serves the Kubernetes API on ${url}`];
  if (kubeconfig !== undefined) lines.push(`export KUBECONFIG=${kubeconfig}`, 'kubectl get namespaces');
  return lines.join('\n');
}
