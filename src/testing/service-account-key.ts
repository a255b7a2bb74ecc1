import { createPublicKey } from 'node:crypto';
import type { ServiceAccountTokensConfig } from '#cmd/server-config';
import { newSigningKey } from '#cmd/certificates/issue';
import type { JwtTokenIssuerOptions } from '#kubernetes/serviceaccount/jwt-token-issuer';

const issuer = 'https://kubernetes.default.svc';
let made: ReturnType<typeof newSigningKey> | undefined;

/** Creates the signer and verifier of a test cluster's service account tokens. The key is created once per process. */
export async function serviceAccountTokens(): Promise<{
  readonly serviceAccounts: JwtTokenIssuerOptions;
  readonly accepted: ServiceAccountTokensConfig;
}> {
  const { privateKey, publicKey } = await (made ??= newSigningKey());
  return {
    serviceAccounts: {
      issuer,
      signingKey: privateKey,
      apiAudiences: [issuer],
      maxExpirationSeconds: undefined,
      extendsExpiration: true,
    },
    accepted: { issuers: [issuer], keys: [createPublicKey(publicKey)], audiences: [issuer], lookup: true, jwksUri: undefined },
  };
}
