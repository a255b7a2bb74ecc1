import { Buffer } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import https from 'node:https';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { AdmissionChain } from '#apiserver/admission/admission-chain';
import type { Clock } from '#apiserver/base/clock';
import { Informers } from '#apiserver/registry/informers';
import { InProcessExchange } from '#apiserver/serving/in-process-exchange';
import { trustOptions } from '#apiserver/network/trust';
import { credentialSourceOf } from '#apiserver/network/webhook/json-client';
import { readKubeconfig } from '#apiserver/network/webhook/kubeconfig';
import { completeOptions } from '#cmd/options/complete';
import { OptionsError } from '#cmd/options/options-error';
import { readServerOptions } from '#cmd/options/read-server-options';
import type { AuditConfig } from '#cmd/server-config';
import { hashToken } from '#plugins/authentication/token-auth';

export interface ApiRequest {
  readonly method: string;
  /** Path with its query. */
  readonly path: string;
  /** Headers with lower-case names. */
  readonly headers?: Readonly<Record<string, string | string[]>> | undefined;
  /** Body, sent as JSON. */
  readonly body?: object | undefined;
}

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** A client of a server, authenticated as its administrator or as the user of a kubeconfig. */
export interface Api extends AsyncDisposable {
  ask(request: ApiRequest): Promise<ApiAnswer>;
}

/** A server in this process. */
export interface InProcessApi extends Api {
  readonly informers: Informers;
  /** Runs a function whose requests skip admission: they write what already exists. No other requests may run meanwhile. */
  withoutAdmission<T>(work: () => Promise<T>): Promise<T>;
}

/** Options of a server in this process, besides its configuration file. */
export interface InProcessOptions {
  /** A `plugins` list as in a ServerConfiguration, and the file that contains it, from whose folder packages are resolved. */
  readonly plugins?: { readonly list: unknown; readonly file: string } | undefined;
  /** The clock of plugins and of their exceptions. Default: the system's. */
  readonly clock?: Clock | undefined;
  /** Logs only errors. */
  readonly isQuiet?: boolean | undefined;
}

/** Selects no request and has no log, so that packages with audit backends start without a policy, and get no events. */
const noAudit: AuditConfig = { policy: { rules: [], omitStages: [], omitManagedFields: false }, log: undefined, webhook: undefined };

/** Starts a server in this process with an empty store and no port, with the plugins and settings of a configuration file. */
export async function startApi(
  configFile: string | undefined,
  { plugins, clock, isQuiet = false }: InProcessOptions = {},
): Promise<InProcessApi> {
  // The objects of a caller do not get the changes of controllers and of plugins that depend on them.
  const command = await readServerOptions([
    '--ephemeral',
    '--controllers=-*',
    ...(configFile === undefined ? [] : [`--config=${configFile}`]),
  ]);
  if (!('options' in command)) throw new Error('the configuration does not start a server');
  const { options } = command;
  if (plugins) {
    const { readPlugins } = await import('#cmd/options/config-file');
    const problems = await readPlugins(plugins.list, resolve(plugins.file), options.plugins);
    if (problems.length > 0) throw new OptionsError(problems.map((problem) => `${plugins.file}: ${problem}`));
  }
  const { config, dispose } = await completeOptions(options);
  const { createApp } = await import('#cmd/app');
  const token = randomBytes(16).toString('hex');
  const administrator = { name: 'admin', groups: ['system:masters'] };
  const tokens = new Map([...(config.authentication.tokens ?? []), [hashToken(token), administrator]]);
  const own = { storage: { backend: 'embedded', file: undefined }, serving: undefined, audit: noAudit } as const;
  const verbosity = isQuiet ? -1 : config.verbosity;
  const app = await createApp({ ...config, ...own, verbosity, authentication: { ...config.authentication, tokens } }, { clock });
  await app.start();
  const chain = app.nest.get(AdmissionChain);
  return {
    informers: app.nest.get<Informers>(Informers),
    async withoutAdmission(work) {
      const { plugins: all } = chain;
      chain.replace([]);
      try {
        return await work();
      } finally {
        chain.replace(all);
      }
    },
    async ask({ method, path, headers, body }) {
      const exchange = new InProcessExchange({
        method,
        url: path,
        headers: headersOf(headers, body, `Bearer ${token}`),
        body: body && Buffer.from(JSON.stringify(body)),
      });
      app.server.serve(exchange);
      const response = await exchange.response;
      return { status: response.status, headers: response.headers, text: await response.text() };
    },
    async [Symbol.asyncDispose]() {
      await app.stop();
      await dispose();
    },
  };
}

/** Connects to a running server by the current context of a kubeconfig file. */
export async function connectApi(kubeconfig: string): Promise<Api> {
  const connection = await readKubeconfig(kubeconfig);
  const { url, certificateAuthority, insecure, serverName } = connection;
  const known = await credentialSourceOf(connection)?.get();
  const clientCertificate = known?.certificate ?? connection.clientCertificate;
  const authorization = known?.token ? `Bearer ${known.token}` : connection.authorization;
  const agent = new https.Agent({ keepAlive: true });
  return {
    async ask({ method, path, headers, body }) {
      const { promise, resolve: onResponse, reject } = Promise.withResolvers<IncomingMessage>();
      const request = https.request(
        new URL(path, url),
        {
          agent,
          method,
          headers: headersOf(headers, body, authorization),
          ...trustOptions({ ca: certificateAuthority, insecure }),
          ...(serverName !== undefined && { servername: serverName }),
          ...clientCertificate,
        },
        onResponse,
      );
      request.on('error', reject).end(body && JSON.stringify(body));
      const response = await promise;
      const answered = new Headers();
      for (const [name, value] of Object.entries(response.headers)) answered.set(name, String(value));
      return { status: response.statusCode ?? 0, headers: answered, text: await text(response) };
    },
    [Symbol.asyncDispose]() {
      agent.destroy();
      return Promise.resolve();
    },
  };
}

function headersOf(headers: ApiRequest['headers'], body: object | undefined, authorization: string | undefined): IncomingHttpHeaders {
  return {
    accept: 'application/json',
    ...(body && { 'content-type': 'application/json' }),
    ...(authorization !== undefined && { authorization }),
    ...headers,
  };
}
