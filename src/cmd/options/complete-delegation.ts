import type { Buffer } from 'node:buffer';
import { parseJson } from '#apimachinery/runtime/json';
import { isJsonObject } from '#apimachinery/patch/own-property';
import { JsonClient } from '#apiserver/webhook/json-client';
import { readKubeconfig, type ServiceConnection } from '#apiserver/webhook/kubeconfig';
import type { AuthorizerConfig, TokenWebhookConfig } from '#cmd/server-config';
import type { ClusterAuthenticationInfo } from '#kubernetes/controlplane/cluster-authentication-info';
import { parseBundle } from '#plugins/authentication/client-authorities';
import type { DelegationOptions } from './delegation-options.ts';

/** Upstream: server/options (NewDelegatingAuthenticationOptions, NewDelegatingAuthorizationOptions). */
const timeoutMs = 10_000;
const cacheTtlMs = 10_000;
const authenticationInfoPath = 'api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication';

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
function below(connection: ServiceConnection, path: string): ServiceConnection {
  const url = new URL(connection.url);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/${path}`;
  return { ...connection, url };
}
