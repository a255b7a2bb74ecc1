import { createPrivateKey, type KeyObject } from 'node:crypto';
import { readText } from '#apiserver/base/system-error';
import { signingAlgorithmOf } from '#apiserver/authentication/public-keys';
import { formatDuration } from '#apimachinery/runtime/duration';
import type { ExternalSigner } from '#kubernetes/serviceaccount/external-signer';
import type { JwtTokenIssuerOptions } from '#kubernetes/serviceaccount/jwt-token-issuer';
import type { ServerOptions } from './server-options.ts';

/** Returns the configuration of service account tokens; undefined without a signing key. */
export async function serviceAccountsOf(
  { serviceAccounts }: ServerOptions,
  ownKey: string | undefined,
): Promise<JwtTokenIssuerOptions | undefined> {
  const { serviceAccountMaxTokenExpiration: expiration, apiAudiences } = serviceAccounts;
  const signingKey = await signingKeyOf(serviceAccounts, ownKey);
  const [issuer] = serviceAccounts.serviceAccountIssuer;
  if (signingKey === undefined || issuer === undefined) return undefined;
  const wanted = expiration === 0 ? undefined : Math.floor(expiration / 1_000);
  return {
    issuer,
    signingKey,
    apiAudiences: apiAudiences.length > 0 ? apiAudiences : serviceAccounts.serviceAccountIssuer,
    maxExpirationSeconds: typeof signingKey === 'string' ? wanted : longestExpiration(wanted, signingKey),
    extendsExpiration: serviceAccounts.serviceAccountExtendTokenExpiration,
    ...(typeof signingKey === 'object' && { maxExtendedSeconds: signingKey.maxTokenExpirationSeconds }),
  };
}

/** Returns the flag to name in problems with the key. */
export function serviceAccountFlag({ serviceAccounts }: ServerOptions): string {
  return serviceAccounts.serviceAccountSigningEndpoint === '' ? '--service-account-signing-key-file' : '--service-account-signing-endpoint';
}

async function signingKeyOf(
  { serviceAccountSigningKeyFile: file, serviceAccountSigningEndpoint: endpoint }: ServerOptions['serviceAccounts'],
  ownKey: string | undefined,
): Promise<string | ExternalSigner | undefined> {
  if (endpoint !== '') {
    const { ExternalSigner } = await import('#kubernetes/serviceaccount/external-signer');
    return ExternalSigner.open(endpoint);
  }
  return file === '' ? ownKey : readSigningKey(file);
}

/** Returns the maximum token lifetime. Throws, and closes the signer, if the flag exceeds the lifetime that the signer allows. */
function longestExpiration(wanted: number | undefined, signer: ExternalSigner): number {
  const { maxTokenExpirationSeconds: most } = signer;
  if (wanted === undefined || wanted <= most) return wanted ?? most;
  signer[Symbol.dispose]();
  throw new Error(
    `service-account-max-token-expiration cannot be set longer than the token expiration supported by service-account-signing-endpoint: ${formatDuration(wanted * 1_000)} > ${formatDuration(most * 1_000)}`,
  );
}

/** Reads a private key. Rejects if the file has no key that can sign tokens. Upstream: client-go/util/keyutil (PrivateKeyFromFile). */
async function readSigningKey(file: string): Promise<string> {
  const text = await readText(file);
  let key: KeyObject;
  try {
    key = createPrivateKey(text);
  } catch (cause) {
    throw new Error(`error reading private key file ${file}: data does not contain a valid RSA or ECDSA private key`, { cause });
  }
  signingAlgorithmOf(key);
  return text;
}
