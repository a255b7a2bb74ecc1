import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { writeKubeconfig } from '#cmd/certificates/kubeconfig';
import { watchFiles } from '#cmd/certificates/watch-files';
import type { App, AppExtensions } from '#cmd/app';
import { optimizeSooner, tendEngine } from '#cmd/engine/engine';
import { type CompletedOptions, completeOptions } from '#cmd/options/complete';
import type { ServerOptions } from '#cmd/options/server-options';
import { endWithParent } from './parent-process.ts';
import type { AuthenticationConfig } from '#cmd/server-config';

/** What whoever runs a server wants to know. */
export interface RunListeners extends Pick<AppExtensions, 'onTrace'> {
  /** Instead of telling on standard output that it serves, and where. */
  readonly onStarted?: (text: string) => void;
}

/**
 * Runs a server until SIGTERM or SIGINT has ended it; the second of them ends the process at once. Rejects if it cannot be
 * started, and has nothing open then.
 */
export async function runServer(options: ServerOptions, { onTrace, onStarted = console.log }: RunListeners = {}): Promise<void> {
  // While certificates are made, mostly by other threads, this one loads the server.
  const [completed, { createApp }] = await Promise.all([completeOptions(options), import('#cmd/app')]);
  const { config } = completed;
  using _parent = options.shutdown.exitWithParent ? endWithParent() : undefined;
  let app: App | undefined;
  try {
    app = await createApp(config, { onTrace });
    for (const warning of completed.warnings) app.log.warn({}, warning);
    const ended = endOnSignal(app);
    const address = await app.start();
    const url = servedUrl(completed, address);
    const kubeconfig = await writeKubeconfigs(options, completed, url);
    using _watch = watchFiles(completed.tlsFiles, () => void reloadCertificates(app as App, completed));
    // A plugin that forgets a promise harms nobody else.
    process.on('unhandledRejection', (error) => app?.log.error({ err: error }, 'a promise was rejected and nobody waits for it'));
    using _engine = tendEngine();
    const { authenticationFiles, authorizationFiles, readAuthentication, readAuthorization } = completed;
    using _authentication = reloading(app, authenticationFiles, readAuthentication, app.reloadAuthentication);
    using _trust = followingAuthentication(app, completed);
    using _encryption = reloading(app, completed.encryptionFiles, completed.readEncryption, app.reloadEncryption);
    using _audit = reloading(app, completed.auditFiles, completed.readAudit, app.reloadAudit);
    using _aggregation = reloading(app, completed.aggregationFiles, completed.readAggregation, app.reloadAggregation);
    using _authorization = reloading(app, authorizationFiles, readAuthorization, app.reloadAuthorization);
    onStarted(started(url, kubeconfig));
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

/** What is still open then, such as a connection to a store that does not answer, keeps the process no longer. */
const lingerMs = 2_000;

function endOnSignal(app: App): Promise<void> {
  return new Promise((resolve, reject) => {
    let signals = 0;
    const onSignal = (signal: NodeJS.Signals): void => {
      signals += 1;
      // What the process still waits for may keep its exit waiting; the system ends it at the next signal.
      if (signals > 1) process.removeAllListeners('SIGTERM').removeAllListeners('SIGINT').exit(1);
      app.log.info({ signal }, 'shutting down');
      app
        .stop()
        .finally(() => setTimeout(() => process.exit(), lingerMs).unref())
        .then(resolve, reject);
    };
    process.on('SIGTERM', onSignal);
    process.on('SIGINT', onSignal);
  });
}

/** What is wrong for a moment, such as a certificate whose key comes a moment later, is told, and what was right stays. */
async function reloadCertificates(app: App, { readTls, tlsFiles }: CompletedOptions): Promise<void> {
  try {
    app.reloadCertificates(await readTls());
    app.log.info({ files: tlsFiles }, 'certificates read again');
  } catch (error) {
    app.log.error({ reason: (error as Error).message }, 'certificates have changed and cannot be used; the old ones stay');
  }
}

/** Reads a configuration again when its files change. What is wrong is told, and what was right stays. */
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
        () => log.info({ files }, 'configuration read again'),
        (error: unknown) =>
          log.error({ files, reason: (error as Error).message }, 'the configuration has changed and cannot be used; the old one stays'),
      );
  });
}

/**
 * Who is trusted by the server that this one delegates to may change there. What cannot be had or used is told, and the old
 * stays; what has not changed is left alone.
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
    app.log.error({ reason: (error as Error).message }, 'what another server says of authentication could not be followed');
  return watchAuthentication?.({ changed, failed });
}

function trustOf({ delegatedClientCa, requestHeader }: AuthenticationConfig): string {
  return JSON.stringify([delegatedClientCa, requestHeader]);
}

/** The URL of the server, with the port that it listens on where it has chosen one itself. */
function servedUrl({ url }: CompletedOptions, address: AddressInfo | undefined): string {
  const served = new URL(url);
  if (served.port === '0' && address) served.port = String(address.port);
  return served.origin;
}

/** Writes the administrator's kubeconfig where it is looked for. Returns the file that somebody has named, else that of the data folder. */
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
