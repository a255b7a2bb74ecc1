import type { KeyObject } from 'node:crypto';
import { signingAlgorithmOf } from '#apiserver/authentication/public-keys';

/** A public key and its key id in tokens. */
export interface PublishedKey {
  readonly id: string;
  readonly key: KeyObject;
}

/** OpenID documents for the verification of service account tokens, in serialized form. */
export interface OpenIdMetadata {
  readonly configuration: string;
  readonly keySet: string;
}

/**
 * Returns /.well-known/openid-configuration and /openid/v1/jwks. Throws for an issuer that is not an https URL without query and fragment.
 * Upstream: kubernetes/pkg/serviceaccount/openidmetadata.go.
 */
export function openIdMetadata(issuer: string, jwksUri: string, keys: readonly PublishedKey[]): OpenIdMetadata {
  const url = new URL(issuer);
  if (url.protocol !== 'https:') throw new Error(`issuer URL must use https scheme, got: ${issuer}`);
  if (url.search !== '') throw new Error(`issuer URL may not include a query, got: ${issuer}`);
  if (url.hash !== '') throw new Error(`issuer URL may not include a fragment, got: ${issuer}`);
  const jwks = keys.map(jwkOf);
  return {
    configuration: JSON.stringify({
      issuer,
      jwks_uri: jwksUri,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: [...new Set(jwks.map(({ alg }) => alg))].sort(),
    }),
    keySet: JSON.stringify({ keys: jwks }),
  };
}

/** Returns a JWK with the field order of go-jose. */
function jwkOf({ id, key }: PublishedKey): { readonly alg: string } & Record<string, unknown> {
  const { kty, crv, x, y, n, e } = key.export({ format: 'jwk' });
  return { use: 'sig', kty, kid: id, crv, alg: signingAlgorithmOf(key), x, y, n, e };
}
