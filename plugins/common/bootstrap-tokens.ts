/** Secrets of kube-system that hold bootstrap tokens `id.secret`. Upstream: k8s.io/cluster-bootstrap/{token/api,util/secrets}. */
import { Buffer } from 'node:buffer';
import { parseTime } from 'kubenest/sdk';
import type { Secret } from 'kubenest/types/core_v1';

export const bootstrapTokenType = 'bootstrap.kubernetes.io/token';
export const bootstrapTokenNamespace = 'kube-system';

/** Returns the name of the Secret of the token with the id. */
export function bootstrapSecretName(id: string): string {
  return `bootstrap-token-${id}`;
}

/** Returns the id in the name of a Secret; undefined if the name has another form. */
export function bootstrapTokenId({ metadata: { name = '' } }: Secret): string | undefined {
  return /^bootstrap-token-([a-z0-9]{6})$/.exec(name)?.[1];
}

/** Returns a member of the token as text; empty if the Secret does not have it. */
export function bootstrapTokenData({ data }: Pick<Secret, 'data'>, key: string): string {
  return Buffer.from(data?.[key] ?? '', 'base64').toString();
}

/** Returns the time until the token expires, in milliseconds; undefined if it never does. A token whose time is malformed has expired. */
export function bootstrapTokenExpiresInMs(secret: Pick<Secret, 'data'>, nowMs: number): number | undefined {
  const expiration = bootstrapTokenData(secret, 'expiration');
  if (expiration === '') return undefined;
  try {
    return parseTime(expiration) - nowMs;
  } catch {
    return 0;
  }
}
