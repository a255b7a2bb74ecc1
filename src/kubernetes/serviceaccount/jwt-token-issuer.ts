import { Buffer } from 'node:buffer';
import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { CompactSign } from 'jose';
import type { ServiceAccountClaims, TokenIssuer } from '#apiserver/authentication/token-issuer';

export interface JwtTokenIssuerOptions {
  /** `--service-account-issuer`: the first of them. */
  readonly issuer: string;
  /** PEM of `--service-account-signing-key-file`: RSA or EC. */
  readonly signingKey: string;
  readonly apiAudiences: readonly string[];
  readonly maxExpirationSeconds: number | undefined;
  readonly extendsExpiration: boolean;
}

const ecAlgorithms: Readonly<Record<string, string>> = { prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512' };

/** Signs with RS256, or ES256, ES384 or ES512 by the key's curve. Upstream: kubernetes/pkg/serviceaccount/jwt.go. */
export class JwtTokenIssuer implements TokenIssuer {
  readonly apiAudiences: readonly string[];
  readonly maxExpirationSeconds: number | undefined;
  readonly extendsExpiration: boolean;
  readonly #issuer: string;
  readonly #key: KeyObject;
  readonly #header: { readonly alg: string; readonly kid: string };

  /** Throws for a key that cannot be read, or is of another kind. */
  constructor({ issuer, signingKey, apiAudiences, maxExpirationSeconds, extendsExpiration }: JwtTokenIssuerOptions) {
    this.apiAudiences = apiAudiences;
    this.maxExpirationSeconds = maxExpirationSeconds;
    this.extendsExpiration = extendsExpiration;
    this.#issuer = issuer;
    this.#key = createPrivateKey(signingKey);
    this.#header = { alg: algorithmOf(this.#key), kid: keyIdOf(createPublicKey(this.#key)) };
  }

  issue({ aud, exp, iat, jti, 'kubernetes.io': kubernetes, nbf, sub }: ServiceAccountClaims): Promise<string> {
    const { namespace, node, pod, secret, serviceaccount, warnafter } = kubernetes;
    const claims = {
      aud,
      exp,
      iat,
      iss: this.#issuer,
      jti,
      'kubernetes.io': { namespace, node, pod, secret, serviceaccount, warnafter },
      nbf,
      sub,
    };
    return new CompactSign(Buffer.from(JSON.stringify(claims))).setProtectedHeader(this.#header).sign(this.#key);
  }
}

function algorithmOf(key: KeyObject): string {
  if (key.asymmetricKeyType === 'rsa') return 'RS256';
  const algorithm = key.asymmetricKeyType === 'ec' ? ecAlgorithms[key.asymmetricKeyDetails?.namedCurve ?? ''] : undefined;
  if (!algorithm) throw new Error('the signing key of service accounts must be RSA, or EC on P-256, P-384 or P-521');
  return algorithm;
}

/** The key's id: the hash of its public part, so that verifiers find it. */
export function keyIdOf(publicKey: KeyObject): string {
  return createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('base64url');
}
