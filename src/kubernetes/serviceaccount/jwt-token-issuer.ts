import { Buffer } from 'node:buffer';
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { CompactSign } from 'jose';
import { keyIdOf, signingAlgorithmOf } from '#apiserver/authentication/public-keys';
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
    this.#header = { alg: signingAlgorithmOf(this.#key), kid: keyIdOf(createPublicKey(this.#key)) };
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
