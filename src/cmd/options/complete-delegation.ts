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
/** A watch that hears nothing is begun anew: its connection may be dead. */
const watchSeconds = 300;
const rewatchMs = 1_000;
const authenticationInfoQuery = `watch=true&fieldSelector=metadata.name%3D${authenticationInfoName}&timeoutSeconds=${watchSeconds}`;

/** Tokens that nobody here knows are shown to the other server; undefined if there is none. */
export async function delegatedTokens({ authenticationKubeconfig: file }: DelegationOptions): Promise<TokenWebhookConfig | undefined> {
  if (file === '') return undefined;
  const connection = below(await readKubeconfig(file), 'apis/authentication.k8s.io/v1/tokenreviews');
  return { connection, version: 'v1', cacheTtlMs, audiences: [] };
}

/** The authorizers that ask the other server; empty if there is none. */
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
 * Whose certificates the other server trusts, as it publishes it for extension servers; nothing if there is none, or it is not
 * to be looked for. Rejects where it cannot be had, unless that is tolerated.
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

/** What is told of what another server publishes. */
export interface AuthenticationInfoListener {
  /** It may have changed. What this rejects with goes to `failed`, and it is called again. */
  changed(): Promise<void>;
  /** It could not be followed, for now. */
  failed(error: unknown): void;
}

/**
 * Watches what the other server publishes, as far as it is to be looked for, until it is disposed of; undefined where it is not.
 * The listener is called for the first time when the watch has begun, and again when it has begun anew.
 * Upstream: apiserver/pkg/server/dynamiccertificates/configmap_cafile_content.go.
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

/** The file is read for each watch: tokens in it change. */
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

/** Throws for what cannot be used. Upstream: apiserver/pkg/authentication/request/headerrequest/requestheader_controller.go. */
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
    if (!Array.isArray(value) || value.some((item) => typeof item !== 'string')) throw new Error(`${key} is no list of texts`);
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

/** Of the same server, another address. */
function below(connection: ServiceConnection, path: string, query = ''): ServiceConnection {
  const url = new URL(connection.url);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/${path}`;
  url.search = query;
  return { ...connection, url };
}
