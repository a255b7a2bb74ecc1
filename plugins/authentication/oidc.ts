import type { Credentials, TokenAuthenticator, UserInfo } from 'kubenest/sdk';
import { type Dial, settledAnew } from '#sdk/internal';
import { DistributedClaims, discoveryUrlOf } from './distributed-claims.ts';
import { type ParsedJwt, parseJwt, textsOf, timeOfNumericDate, verifiesJwt } from './jwt.ts';
import { RemoteKeys } from './remote-keys.ts';

type Claims = ParsedJwt['claims'];

/** Mapping of claims to a value: a claim with a prefix, or an expression over all claims. */
export interface ClaimOrExpression {
  readonly claim?: string | undefined;
  readonly prefix?: string | undefined;
  readonly expression?: ClaimsExpression | undefined;
}

/** A compiled CEL expression over the claims. Throws if the evaluation fails. */
export type ClaimsExpression = (claims: Claims) => unknown;
/** A compiled CEL expression over the user. */
export type UserExpression = (user: UserInfo) => unknown;

/** An issuer of an AuthenticationConfiguration, validated and compiled. */
export interface OidcOptions {
  readonly issuer: string;
  readonly discoveryUrl: string | undefined;
  readonly certificateAuthority: string | undefined;
  /** Accepted audiences. A token must have one of them. */
  readonly audiences: readonly string[];
  readonly signingAlgorithms: readonly string[];
  readonly username: ClaimOrExpression;
  readonly groups: ClaimOrExpression | undefined;
  readonly uid: ClaimOrExpression | undefined;
  readonly extra: readonly { readonly key: string; readonly value: ClaimsExpression }[];
  readonly requiredClaims: ReadonlyMap<string, string>;
  readonly claimRules: readonly { readonly expression: ClaimsExpression; readonly text: string; readonly message: string | undefined }[];
  readonly userRules: readonly { readonly expression: UserExpression; readonly text: string; readonly message: string | undefined }[];
  /** `--api-audiences`: audiences of users authenticated by such a token. */
  readonly apiAudiences: readonly string[];
  /** Dialer of the provider; undefined: direct connections. */
  readonly dial?: Dial | undefined;
  readonly now?: () => number;
  /** Called when a token of the issuer has been accepted or rejected. */
  readonly onToken?: ((result: 'success' | 'failure', seconds: number) => void) | undefined;
  /** Called with the text of the key set when it was fetched; undefined: it could not be. */
  readonly onKeySet?: ((text: string | undefined) => void) | undefined;
}

/** Tolerated clock skew of the provider. */
const leewayMs = 60_000;

/**
 * Authenticates by ID tokens of an OpenID provider: `--oidc-…`, or an entry in `jwt` of `--authentication-config`. Upstream:
 * apiserver/plugin/pkg/authenticator/token/oidc/oidc.go.
 */
export class Oidc implements TokenAuthenticator {
  readonly name = 'OIDC';
  readonly #keys: RemoteKeys;
  /** Set if groups come from a claim, which may be distributed. */
  readonly #distributed: DistributedClaims | undefined;
  readonly #algorithms: ReadonlySet<string>;
  readonly #now: () => number;

  constructor(private readonly options: OidcOptions) {
    const { issuer, discoveryUrl, certificateAuthority } = options;
    this.#now = options.now ?? Date.now;
    this.#keys = new RemoteKeys({
      issuer,
      discoveryUrl: discoveryUrl ?? discoveryUrlOf(issuer),
      certificateAuthority,
      dial: options.dial,
      onKeySet: options.onKeySet,
      ...(options.now && { now: options.now }),
    });
    this.#algorithms = new Set(options.signingAlgorithms);
    const claim = options.groups?.claim;
    this.#distributed =
      claim === undefined
        ? undefined
        : new DistributedClaims({
            claim,
            certificateAuthority,
            dial: options.dial,
            now: this.#now,
            verify: (jwt, keys) => this.#verify(jwt, keys),
          });
  }

  /** Returns undefined for tokens of other issuers. */
  authenticateToken(token: string, request: Pick<Credentials, 'audiences'>): UserInfo | undefined | Promise<UserInfo | undefined> {
    const jwt = parseJwt(token);
    if (!jwt || jwt.claims['iss'] !== this.options.issuer) return undefined;
    const { apiAudiences } = this.options;
    if (request.audiences && !request.audiences.some((audience) => apiAudiences.includes(audience))) return undefined;
    return this.#measured(jwt);
  }

  async #measured(jwt: ParsedJwt): Promise<UserInfo> {
    const began = performance.now();
    let result: 'success' | 'failure' = 'failure';
    try {
      const user = await this.#authenticated(jwt);
      result = 'success';
      return user;
    } finally {
      this.options.onToken?.(result, (performance.now() - began) / 1_000);
    }
  }

  async #authenticated(jwt: ParsedJwt): Promise<UserInfo> {
    await this.#verify(jwt, this.#keys);
    const claims = this.#distributed ? await this.#distributed.resolved(jwt.claims) : jwt.claims;
    // Another thread matches large regular expressions.
    return settledAnew(() => this.#userOf(claims));
  }

  async #verify(jwt: ParsedJwt, remote: RemoteKeys): Promise<void> {
    const { aud, exp, nbf } = jwt.claims;
    const audiences = textsOf(aud);
    if (!this.options.audiences.some((audience) => audiences.includes(audience)))
      throw new Error(
        `oidc: verify token: oidc: expected audience in ${JSON.stringify(this.options.audiences)} got ${JSON.stringify(audiences)}`,
      );
    const expiry = exp === undefined ? Number.NEGATIVE_INFINITY : timeOf(exp);
    if (this.#now() > expiry) throw new Error('oidc: verify token: oidc: token is expired');
    if (nbf !== undefined && nbf !== null && this.#now() + leewayMs < timeOf(nbf))
      throw new Error('oidc: verify token: oidc: current time is before the nbf (not before) time');
    const keys = await remote.find(jwt.keyId);
    if (!keys.some((key) => verifiesJwt(jwt, key, this.#algorithms)))
      throw new Error('oidc: verify token: failed to verify signature: failed to verify id token signature');
  }

  #userOf(claims: Claims): UserInfo {
    const { requiredClaims, claimRules, userRules, groups, uid, extra } = this.options;
    for (const [claim, wanted] of requiredClaims) {
      if (claims[claim] === undefined) throw new Error(`oidc: required claim ${claim} not present in ID token`);
      if (claims[claim] !== wanted)
        throw new Error(`oidc: required claim ${claim} value does not match. Got = ${JSON.stringify(claims[claim])}, want = ${wanted}`);
    }
    const name = this.#username(claims);
    for (const rule of claimRules) {
      if (rule.expression(claims) !== true)
        throw new Error(
          `oidc: error evaluating claim validation expression: validation expression '${rule.text}' failed${rule.message ? `: ${rule.message}` : ''}`,
        );
    }
    const id = uid && textOf(valueOf(claims, uid), 'uid');
    const more = extra.flatMap(({ key, value }) => {
      const values = textsOf(value(claims)).filter(Boolean);
      return values.length > 0 ? [[key, values] as const] : [];
    });
    const user: UserInfo = {
      name,
      groups: groups ? groupsOf(claims, groups) : [],
      ...(id && { uid: id }),
      ...(more.length > 0 && { extra: Object.fromEntries(more) }),
    };
    for (const rule of userRules) {
      if (rule.expression(user) !== true)
        throw new Error(
          `oidc: error evaluating user info validation rule: validation expression '${rule.text}' failed${rule.message ? `: ${rule.message}` : ''}`,
        );
    }
    return { ...user, ...(this.options.apiAudiences.length > 0 && { audiences: this.options.apiAudiences }) };
  }

  #username(claims: Claims): string {
    const { username } = this.options;
    const name = textOf(valueOf(claims, username), 'username');
    if (name === '') throw new Error('oidc: parse username claims: username is empty');
    // An unverified email address must not authenticate a user, who may have chosen it freely.
    if (username.claim === 'email' && claims['email_verified'] !== undefined && claims['email_verified'] !== true)
      throw new Error('oidc: email not verified');
    return `${username.prefix ?? ''}${name}`;
  }
}

/** Converts a number or numeric string to milliseconds since 1970. Upstream: coreos/go-oidc (jsonTime). */
function timeOf(value: unknown): number {
  const isNumber = typeof value === 'number' || (typeof value === 'string' && /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(value));
  const seconds = isNumber ? Number(value) : Number.NaN;
  if (!Number.isFinite(seconds)) throw new Error('oidc: verify token: oidc: failed to unmarshal claims: a time must be a number');
  return timeOfNumericDate(seconds);
}

function valueOf(claims: Claims, { claim, expression }: ClaimOrExpression): unknown {
  if (expression) return expression(claims);
  const value = claim !== undefined && Object.hasOwn(claims, claim) ? claims[claim] : undefined;
  if (value === undefined) throw new Error(`oidc: parse claims: claim not present: ${claim}`);
  return value;
}

function textOf(value: unknown, what: string): string {
  if (typeof value !== 'string') throw new Error(`oidc: parse ${what} claims: must be a string`);
  return value;
}

/** Returns the groups; empty if the claim is missing. */
function groupsOf(claims: Claims, { claim, prefix = '', expression }: ClaimOrExpression): string[] {
  const value = expression ? expression(claims) : claim !== undefined && Object.hasOwn(claims, claim) ? claims[claim] : undefined;
  if (value === undefined || value === null || value === '') return [];
  const groups = textsOf(value);
  if (typeof value !== 'string' && (!Array.isArray(value) || groups.length < value.length))
    throw new Error(`oidc: parse groups claim ${JSON.stringify(claim ?? 'expression')}: must be a string or a list of strings`);
  return groups.filter(Boolean).map((group) => `${prefix}${group}`);
}
