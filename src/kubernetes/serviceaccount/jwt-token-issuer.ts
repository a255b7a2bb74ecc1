import { Buffer } from 'node:buffer';
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { CompactSign } from 'jose';
import { keyIdOf, signingAlgorithmOf } from '#apiserver/authentication/public-keys';
import type { SecretToken } from '#apiserver/controllers/cluster-credentials';
import type { ExternalSigner } from './external-signer.ts';
import type { ServiceAccountClaims, TokenIssuer } from '#apiserver/authentication/token-issuer';

export interface JwtTokenIssuerOptions {
  /** The first `--service-account-issuer`. */
  readonly issuer: string;
  /** RSA or EC key in PEM (`--service-account-signing-key-file`), or the external signer (`--service-account-signing-endpoint`). */
  readonly signingKey: string | ExternalSigner;
  readonly apiAudiences: readonly string[];
  readonly maxExpirationSeconds: number | undefined;
  readonly extendsExpiration: boolean;
  /** Maximum lifetime of extended pod tokens in seconds; undefined for one year. */
  readonly maxExtendedSeconds?: number | undefined;
}

/** Issues tokens signed with RS256, or ES256, ES384 or ES512 by the key's curve. Upstream: kubernetes/pkg/serviceaccount/jwt.go. */
export class JwtTokenIssuer implements TokenIssuer {
  readonly apiAudiences: readonly string[];
  readonly maxExpirationSeconds: number | undefined;
  readonly extendsExpiration: boolean;
  readonly maxExtendedSeconds: number | undefined;
  readonly #issuer: string;
  /** Signs the token of a Secret, which does not expire. Undefined with an external signer, which refuses such tokens. */
  readonly signSecretToken: ((token: SecretToken) => Promise<string>) | undefined;
  readonly #sign: (payload: Buffer) => Promise<string>;

  /** Throws for a key that is malformed or of an unsupported type. */
  constructor({ issuer, signingKey, ...options }: JwtTokenIssuerOptions) {
    this.apiAudiences = options.apiAudiences;
    this.maxExpirationSeconds = options.maxExpirationSeconds;
    this.extendsExpiration = options.extendsExpiration;
    this.maxExtendedSeconds = options.maxExtendedSeconds;
    this.#issuer = issuer;
    const sign = typeof signingKey === 'string' ? signingWith(createPrivateKey(signingKey)) : undefined;
    this.#sign = sign ?? ((payload) => (signingKey as ExternalSigner).sign(payload));
    this.signSecretToken = sign && ((token) => sign(Buffer.from(JSON.stringify(secretTokenClaims(token)))));
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
    return this.#sign(Buffer.from(JSON.stringify(claims)));
  }
}

/** Upstream: LegacyClaims of kubernetes/pkg/serviceaccount/legacy.go. */
function secretTokenClaims({
  namespace,
  secretName,
  serviceAccountName,
  serviceAccountUid,
}: SecretToken): Readonly<Record<string, string>> {
  return {
    iss: 'kubernetes/serviceaccount',
    'kubernetes.io/serviceaccount/namespace': namespace,
    'kubernetes.io/serviceaccount/secret.name': secretName,
    'kubernetes.io/serviceaccount/service-account.name': serviceAccountName,
    'kubernetes.io/serviceaccount/service-account.uid': serviceAccountUid,
    sub: `system:serviceaccount:${namespace}:${serviceAccountName}`,
  };
}

function signingWith(key: KeyObject): (payload: Buffer) => Promise<string> {
  const header = { alg: signingAlgorithmOf(key), kid: keyIdOf(createPublicKey(key)) };
  return (payload) => new CompactSign(payload).setProtectedHeader(header).sign(key);
}
