import type { Buffer } from 'node:buffer';
import { setTimeout } from 'node:timers/promises';
import { parseJson } from '#apimachinery/runtime/json/json';
import { isJsonObject } from '#apimachinery/patch/own-property';
import { JsonClient } from '#apiserver/network/webhook/json-client';
import { readKubeconfig, type ServiceConnection } from '#apiserver/network/webhook/kubeconfig';
import type { AuthorizerConfig, TokenWebhookConfig } from '#cmd/server-config';
import type { ClusterAuthenticationInfo } from '#kubernetes/controlplane/cluster-authentication-info';
import { parseBundle } from '#plugins/authentication/client-authorities';
import type { DelegationOptions } from './delegation-options.ts';

/** Upstream: server/options (NewDelegatingAuthenticationOptions, NewDelegatingAuthorizationOptions). */
const timeoutMs = 10_000;
const cacheTtlMs = 10_000;
const authenticationInfoList = 'api/v1/namespaces/kube-system/configmaps';
const authenticationInfoName = 'extension-apiserver-authentication';
const authenticationInfoPath = `${authenticationInfoList}/${authenticationInfoName}`;
/** Duration after which an idle watch is restarted: its connection may be dead. */
const watchSeconds = 300;
const rewatchMs = 1_000;
const authenticationInfoQuery = `watch=true&fieldSelector=metadata.name%3D${authenticationInfoName}&timeoutSeconds=${watchSeconds}`;

/** Token webhook of the other server, which reviews tokens that no local authenticator knows; undefined without such a server. */
export async function delegatedTokens({ authenticationKubeconfig: file }: DelegationOptions): Promise<TokenWebhookConfig | undefined> {
  if (file === '') return undefined;
  const connection = below(await readKubeconfig(file), 'apis/authentication.k8s.io/v1/tokenreviews');
  return { connection, version: 'v1', cacheTtlMs, audiences: [] };
}

/** Authorizers that delegate to the other server; empty without such a server. */
export async function delegatedAuthorizers(options: DelegationOptions): Promise<AuthorizerConfig[]> {
  const { authorizationKubeconfig: file, authorizationAlwaysAllowPaths: paths } = options;
  if (file === '') return [];
  const connection = below(await readKubeconfig(file), 'apis/authorization.k8s.io/v1/subjectaccessreviews');
  return [
    { type: 'AlwaysAllowPaths', paths },
    {
      type: 'Webhook',
      webhook: {
        name: 'delegated',
        connection,
        timeoutMs,
        version: 'v1',
        authorizedTtlMs: cacheTtlMs,
        unauthorizedTtlMs: cacheTtlMs,
        failurePolicy: 'NoOpinion',
      },
    },
  ];
}

/**
 * Reads the certificate authorities that the other server publishes for extension servers. Returns an empty result if there is no such
 * server or the lookup is skipped. Rejects if the lookup fails, unless that is tolerated.
 */
export async function lookUpAuthenticationInfo(options: DelegationOptions): Promise<ClusterAuthenticationInfo> {
  const { authenticationKubeconfig: file, authenticationSkipLookup, authenticationTolerateLookupFailure } = options;
  const nothing = { clientCa: undefined, requestHeader: undefined };
  if (file === '' || authenticationSkipLookup) return nothing;
  const connection = below(await readKubeconfig(file), authenticationInfoPath);
  using client = new JsonClient(connection, { timeoutMs, retryMs: 0 });
  try {
    return readAuthenticationInfo(await client.send('GET', undefined));
  } catch (cause) {
    if (authenticationTolerateLookupFailure) return nothing;
    const why = (cause as Error).message;
    throw new Error(`cannot read ConfigMap kube-system/extension-apiserver-authentication of ${connection.url.origin}: ${why}`, { cause });
  }
}

/** Listener for changes of the published authentication information. */
export interface AuthenticationInfoListener {
  /** Called when the information may have changed. If it rejects, `failed` receives the error and the call is repeated. */
  changed(): Promise<void>;
  /** Called when the watch fails; it is retried. */
  failed(error: unknown): void;
}

/**
 * Watches the information that the other server publishes, until it is disposed of; undefined if the lookup is skipped. Calls the listener
 * whenever the watch has started or restarted. Upstream: apiserver/pkg/server/dynamiccertificates/configmap_cafile_content.go.
 */
export function authenticationInfoWatch(options: DelegationOptions): ((listener: AuthenticationInfoListener) => Disposable) | undefined {
  const { authenticationKubeconfig: file, authenticationSkipLookup } = options;
  if (file === '' || authenticationSkipLookup) return undefined;
  return (listener) => {
    const ending = new AbortController();
    void watchAuthenticationInfo(file, listener, ending.signal);
    return { [Symbol.dispose]: () => ending.abort() };
  };
}

/** The kubeconfig is read for each watch, because tokens in it change. */
async function watchAuthenticationInfo(file: string, listener: AuthenticationInfoListener, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      using client = new JsonClient(below(await readKubeconfig(file), authenticationInfoList, authenticationInfoQuery), {
        timeoutMs: watchSeconds * 1_000 + timeoutMs,
        retryMs: 0,
      });
      for await (const { type, object } of client.follow(signal)) {
        if (type === 'ERROR') throw new Error(isJsonObject(object) ? String(object['message']) : 'the watch failed');
        await listener.changed();
      }
    } catch (error) {
      if (!signal.aborted) listener.failed(error);
    }
    await setTimeout(rewatchMs, undefined, { signal, ref: false }).catch(() => {});
  }
}

/**
 * Parses the published ConfigMap. Throws for invalid values. Upstream:
 * apiserver/pkg/authentication/request/headerrequest/requestheader_controller.go.
 */
export function readAuthenticationInfo(configMap: Buffer): ClusterAuthenticationInfo {
  const { data } = parseJson(configMap).value as { readonly data?: unknown };
  const text = (key: string): string | undefined => {
    const value = isJsonObject(data) && Object.hasOwn(data, key) ? data[key] : undefined;
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const bundle = (key: string): string | undefined => {
    const pem = text(key);
    if (pem !== undefined) parseBundle(pem);
    return pem;
  };
  const list = (key: string): string[] => {
    const value: unknown = JSON.parse(text(key) ?? '[]');
    if (!Array.isArray(value) || value.some((item) => typeof item !== 'string')) throw new Error(`${key} is not a list of strings`);
    return value as string[];
  };
  const proxies = bundle('requestheader-client-ca-file');
  return {
    clientCa: bundle('client-ca-file'),
    requestHeader:
      proxies === undefined
        ? undefined
        : {
            clientCa: proxies,
            usernameHeaders: list('requestheader-username-headers'),
            uidHeaders: list('requestheader-uid-headers'),
            groupHeaders: list('requestheader-group-headers'),
            extraHeaderPrefixes: list('requestheader-extra-headers-prefix'),
            allowedNames: list('requestheader-allowed-names'),
          },
  };
}

/** Returns a connection to another path of the same server. */
function below(connection: ServiceConnection, path: string, query = ''): ServiceConnection {
  const url = new URL(connection.url);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/${path}`;
  url.search = query;
  return { ...connection, url };
}
