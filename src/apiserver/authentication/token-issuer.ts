/** What a token tells of an object that it is bound to. */
export interface TokenReference {
  readonly name: string;
  readonly uid?: string | undefined;
}

/** The claims of a service account's token; the issuer adds `iss` and signs. Times are seconds since 1970. */
export interface ServiceAccountClaims {
  readonly aud: readonly string[];
  readonly exp: number;
  readonly iat: number;
  readonly jti: string;
  readonly 'kubernetes.io': {
    readonly namespace: string;
    readonly node?: TokenReference | undefined;
    readonly pod?: TokenReference | undefined;
    readonly secret?: TokenReference | undefined;
    readonly serviceaccount: TokenReference;
    readonly warnafter?: number | undefined;
  };
  readonly nbf: number;
  readonly sub: string;
}

/** Signs service account tokens. Without one the server serves no TokenRequests. Upstream: kubernetes/pkg/serviceaccount (TokenGenerator). */
export interface TokenIssuer {
  /** `--api-audiences`: what tokens are for that say nothing, and what the server itself accepts. */
  readonly apiAudiences: readonly string[];
  /** `--service-account-max-token-expiration` in seconds; undefined: no limit. */
  readonly maxExpirationSeconds: number | undefined;
  /** `--service-account-extend-token-expiration`: tokens of pods that ask for 3607 s last a year, and warn after that hour. */
  readonly extendsExpiration: boolean;
  /** Those tokens last so long at most; undefined: a year. */
  readonly maxExtendedSeconds?: number | undefined;
  /** A compact JWS. Rejects if it cannot be signed. */
  issue(claims: ServiceAccountClaims): Promise<string>;
}

export const TokenIssuer = Symbol.for('kubenest.TokenIssuer');
