/** Claims about an object that a token is bound to. */
export interface TokenReference {
  readonly name: string;
  readonly uid?: string | undefined;
}

/** Claims of a service account token; the issuer adds `iss` and signs. Times are seconds since 1970. */
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

/**
 * Signs service account tokens. Without an issuer the server serves no TokenRequests. Upstream: kubernetes/pkg/serviceaccount
 * (TokenGenerator).
 */
export interface TokenIssuer {
  /** `--api-audiences`: default audiences of issued tokens, and the audiences that the server accepts. */
  readonly apiAudiences: readonly string[];
  /** `--service-account-max-token-expiration` in seconds; undefined: no limit. */
  readonly maxExpirationSeconds: number | undefined;
  /**
   * `--service-account-extend-token-expiration`: tokens that pods request for 3607 s are valid for a year; their use after the
   * requested time is a warning.
   */
  readonly extendsExpiration: boolean;
  /** Maximum lifetime of extended tokens in seconds; undefined: a year. */
  readonly maxExtendedSeconds?: number | undefined;
  /** Signs the claims and returns a compact JWS. Rejects if signing fails. */
  issue(claims: ServiceAccountClaims): Promise<string>;
}

export const TokenIssuer = Symbol.for('kubenest.TokenIssuer');
