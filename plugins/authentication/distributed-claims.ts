import type { Dial } from '#sdk/internal';
import { httpsGet } from './https-get.ts';
import { type ParsedJwt, parseJwt } from './jwt.ts';
import { RemoteKeys } from './remote-keys.ts';

const timeoutMs = 30_000;
/** Maximum number of cached issuers of endpoints. */
const maxIssuers = 64;

type Claims = ParsedJwt['claims'];

export interface DistributedClaimsOptions {
  /** The claim to resolve. */
  readonly claim: string;
  /** PEM authorities of endpoints and issuers; undefined: the system's authorities. */
  readonly certificateAuthority: string | undefined;
  readonly dial: Dial | undefined;
  readonly now: () => number;
  /** Verifies a token with the keys of its issuer. Rejects if it is invalid. */
  verify(jwt: ParsedJwt, keys: RemoteKeys): Promise<void>;
}

/**
 * Resolves a claim that is not in the token itself: `_claim_names` and `_claim_sources` refer to a token of any issuer that
 * contains it. Upstream: apiserver/plugin/pkg/authenticator/token/oidc/oidc.go (claimResolver); OpenID Connect Core 5.6.2.
 */
export class DistributedClaims {
  readonly #issuers = new Map<string, RemoteKeys>();

  constructor(private readonly options: DistributedClaimsOptions) {}

  /** Returns the verified `claims` with the distributed claim added. Rejects if it cannot be resolved. */
  async resolved(claims: Claims): Promise<Claims> {
    const { claim } = this.options;
    if (Object.hasOwn(claims, claim) || !Object.hasOwn(claims, '_claim_names')) return claims;
    const source = textMember(objectOf(claims['_claim_names'], 'error parsing distributed claim names'), claim);
    if (!Object.hasOwn(claims, '_claim_sources')) throw new Error('oidc: no claim sources');
    const sources = objectOf(claims['_claim_sources'], 'could not parse claim sources');
    if (source === undefined) return claims;
    if (!Object.hasOwn(sources, source))
      throw new Error(`oidc: id token _claim_names contained a source ${source} missing in _claims_sources`);
    const endpoint = objectOf(sources[source], 'could not parse claim sources');
    const url = textMember(endpoint, 'endpoint');
    if (url === undefined || url === '') return claims;
    const found = await this.#claimsAt(url, textMember(endpoint, 'access_token'));
    if (!Object.hasOwn(found, claim))
      throw new Error(`oidc: jwt returned by distributed claim endpoint ${JSON.stringify(url)} did not contain claim: ${claim}`);
    return { ...claims, [claim]: found[claim] };
  }

  async #claimsAt(url: string, accessToken: string | undefined): Promise<Claims> {
    const { claim } = this.options;
    const text = await this.#get(url, accessToken).catch((cause: unknown) => {
      throw new Error(`oidc: while getting distributed claim ${JSON.stringify(claim)}: ${(cause as Error).message}`, { cause });
    });
    const jwt = parseJwt(text.trim());
    const issuer = jwt?.claims['iss'];
    if (!jwt || typeof issuer !== 'string' || issuer === '')
      throw new Error(`oidc: getting untrusted issuer from endpoint ${url} failed for claim ${JSON.stringify(claim)}`);
    await this.options.verify(jwt, this.#keysOf(issuer));
    return jwt.claims;
  }

  #keysOf(issuer: string): RemoteKeys {
    let keys = this.#issuers.get(issuer);
    if (!keys) {
      const { certificateAuthority, dial, now } = this.options;
      if (this.#issuers.size >= maxIssuers) this.#issuers.clear();
      keys = new RemoteKeys({ issuer, discoveryUrl: discoveryUrlOf(issuer), certificateAuthority, dial, now });
      this.#issuers.set(issuer, keys);
    }
    return keys;
  }

  async #get(url: string, accessToken: string | undefined): Promise<string> {
    if (!URL.canParse(url) || new URL(url).protocol !== 'https:') throw new Error('the endpoint must be an https URL');
    const { certificateAuthority, dial } = this.options;
    return httpsGet(url, { certificateAuthority, dial, timeoutMs, bearerToken: accessToken });
  }
}

/** Returns the default URL of an issuer's discovery document. */
export function discoveryUrlOf(issuer: string): string {
  return `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
}

function objectOf(value: unknown, problem: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(`oidc: ${problem}`);
  return value as Readonly<Record<string, unknown>>;
}

function textMember(object: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = Object.hasOwn(object, name) ? object[name] : undefined;
  return typeof value === 'string' ? value : undefined;
}
