import { Buffer } from 'node:buffer';
import { type KeyObject, timingSafeEqual } from 'node:crypto';
import type { Credentials, Informer, Informers, KubeObject, TokenAuthenticator, UserInfo } from 'kubenest/sdk';
import type { Secret, ServiceAccount } from 'kubenest/kinds';
import { quoteList } from '#sdk/internal';
import { type ParsedJwt, parseJwt, verifiesJwt } from './jwt.ts';
import { type Reference, readServiceAccountClaims, type ServiceAccountTokenClaims } from './service-account-claims.ts';

/** A public key with its key id. */
export interface ServiceAccountKey {
  readonly id: string;
  readonly key: KeyObject;
}

/** Source of the public keys. */
export interface ServiceAccountKeySource {
  readonly keys: readonly ServiceAccountKey[];
  /** Reloads the keys for a token with an unknown key; undefined if they never change. */
  refresh?(): Promise<void>;
}

export interface ServiceAccountOptions {
  /** `--service-account-issuer`: accepted issuers. */
  readonly issuers: readonly string[];
  readonly keySource: ServiceAccountKeySource;
  /** Accepted audiences: `--api-audiences`. */
  readonly audiences: readonly string[];
  /**
   * True if the secret of a legacy token must exist (`--service-account-lookup`). The objects that bound tokens refer to are
   * always looked up.
   */
  readonly lookup: boolean;
  /** Called when a legacy token is used, to label its secret with the date. */
  readonly onLegacyTokenUse?: ((secret: KubeObject) => void) | undefined;
  /** Called with the type of each verified token. */
  readonly onUse?: ((use: TokenUse) => void) | undefined;
  readonly now?: () => number;
}

/** Bound tokens are valid or stale; legacy tokens were created manually or by a controller, and may be invalid. */
export type TokenUse = 'legacy' | 'stale' | 'valid' | 'legacyManual' | 'legacyAuto' | 'invalidLegacyAuto';

type TokenRequest = Pick<Credentials, 'audiences' | 'warn' | 'annotate'>;

const legacyIssuer = 'kubernetes/serviceaccount';
const algorithms: ReadonlySet<string> = new Set(['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512']);
const userPrefix = 'system:serviceaccount:';
const groupPrefix = 'system:serviceaccounts';
/** Tolerated clock skew. */
const leewayMs = 60_000;
const invalidSince = 'kubernetes.io/legacy-token-invalid-since';
const invalidated = 'service account token has been invalidated';

/**
 * Authenticates service account tokens: bound tokens with an audience and optionally a pod, node or secret, and legacy
 * tokens of secrets, which do not expire. Upstream: kubernetes/pkg/serviceaccount (jwt.go, claims.go, legacy.go).
 */
export class ServiceAccountTokens implements TokenAuthenticator {
  readonly name = 'ServiceAccount';
  readonly #issuers: ReadonlySet<string>;
  readonly #accounts: Informer<ServiceAccount>;
  readonly #secrets: Informer<Secret>;
  readonly #pods: Informer;
  readonly #nodes: Informer;
  readonly #now: () => number;

  constructor(
    informers: Informers,
    readonly options: ServiceAccountOptions,
  ) {
    this.#issuers = new Set(options.issuers);
    this.#accounts = informers.for({ group: '', resource: 'serviceaccounts' });
    this.#secrets = informers.for({ group: '', resource: 'secrets' });
    this.#pods = informers.for({ group: '', resource: 'pods' });
    this.#nodes = informers.for({ group: '', resource: 'nodes' });
    this.#now = options.now ?? Date.now;
  }

  authenticateToken(token: string, request: TokenRequest): UserInfo | undefined | Promise<UserInfo> {
    const jwt = parseJwt(token);
    const issuer = jwt?.claims['iss'];
    if (!jwt || typeof issuer !== 'string' || !(issuer === legacyIssuer || this.#issuers.has(issuer))) return undefined;
    const { keySource } = this.options;
    if (!keySource.refresh || this.#keysFor(jwt).length > 0) return this.#authenticate(token, jwt, issuer, request);
    // If the refresh fails, the key stays unknown and the token is rejected.
    return keySource
      .refresh()
      .catch(() => {})
      .then(() => this.#authenticate(token, jwt, issuer, request));
  }

  #authenticate(token: string, jwt: ParsedJwt, issuer: string, request: TokenRequest): UserInfo {
    this.#verify(jwt);
    const claims = readServiceAccountClaims(jwt);
    const audiences = this.#audiencesOf(claims, request);
    const user = issuer === legacyIssuer ? this.#legacyUser(token, claims, request) : this.#user(claims, request);
    return { ...user, audiences };
  }

  #keysFor({ keyId }: ParsedJwt): readonly ServiceAccountKey[] {
    const { keys } = this.options.keySource;
    return keyId === undefined ? keys : keys.filter(({ id }) => id === keyId);
  }

  #verify(jwt: ParsedJwt): void {
    const candidates = this.#keysFor(jwt);
    if (candidates.length === 0) throw new Error('invalid signature, no keys found');
    if (!candidates.some(({ key }) => verifiesJwt(jwt, key, algorithms)))
      throw new Error('go-jose/go-jose: error in cryptographic primitive');
  }

  /** Returns the requested audiences that the token has; a token without audiences is valid for the server's own. */
  #audiencesOf({ audiences: own, subject }: ServiceAccountTokenClaims, request: TokenRequest): readonly string[] {
    let audiences = own;
    if (audiences.length === 0) {
      request.annotate?.('authentication.k8s.io/legacy-token', subject);
      this.options.onUse?.('legacy');
      audiences = this.options.audiences;
    }
    const wanted = request.audiences ?? this.options.audiences;
    const common = audiences.filter((audience) => wanted.includes(audience));
    if (common.length === 0 && this.options.audiences.length > 0)
      throw new Error(`token audiences ${quoteList(audiences)} is invalid for the target audiences ${quoteList(wanted)}`);
    return common;
  }

  #user(claims: ServiceAccountTokenClaims, request: TokenRequest): UserInfo {
    this.#checkTimes(claims);
    const { namespace, account, pod, secret, node, warnAfter } = claims;
    const stored = this.#accounts.get(namespace, account.name);
    if (!stored) throw new Error(`serviceaccounts ${JSON.stringify(account.name)} not found`);
    if (stored.metadata.uid !== account.uid)
      throw new Error(`service account UID (${stored.metadata.uid}) does not match claim (${account.uid})`);
    if (this.#isGone(stored)) throw new Error(`service account ${namespace}/${account.name} has been deleted`);

    if (secret) this.#checkBound(this.#secrets.get(namespace, secret.name), secret, 'secret', 'service account secret ref');
    if (pod) this.#checkBound(this.#pods.get(namespace, pod.name), pod, 'pod', 'service account pod ref');
    else if (node) this.#checkBound(this.#nodes.get('', node.name), node, 'node', 'service account node ref');

    const now = this.#now();
    const hasLimit = warnAfter !== undefined && warnAfter !== 0;
    const isStale = hasLimit && now > warnAfter;
    if (hasLimit) this.options.onUse?.(isStale ? 'stale' : 'valid');
    if (isStale) {
      const overdue = Math.floor(now / 1000) - warnAfter / 1000;
      request.annotate?.('authentication.k8s.io/stale-token', `subject: ${claims.subject}, seconds after warning threshold: ${overdue}`);
    }
    return userOf(namespace, account, extraOf(claims.id, pod, node));
  }

  #checkTimes({ expiry, notBefore, issuedAt }: ServiceAccountTokenClaims): void {
    const now = this.#now();
    if (notBefore !== undefined && now + leewayMs < notBefore) throw new Error('service account token is not valid yet');
    if (expiry !== undefined && now - leewayMs > expiry) throw new Error('service account token has expired');
    if (issuedAt !== undefined && now + leewayMs < issuedAt) throw new Error('service account token is issued in the future');
  }

  /** Checks that the object that a token is bound to exists. */
  #checkBound(object: KubeObject | undefined, { uid }: Reference, what: string, claim: string): void {
    if (!object) throw new Error(invalidated);
    if (object.metadata.uid !== uid) throw new Error(`${what} UID (${object.metadata.uid}) does not match ${claim} claim (${uid})`);
    if (this.#isGone(object)) throw new Error(invalidated);
  }

  #isGone({ metadata: { deletionTimestamp } }: KubeObject): boolean {
    return deletionTimestamp !== undefined && Date.parse(deletionTimestamp) < this.#now() - leewayMs;
  }

  #legacyUser(token: string, { subject, legacy }: ServiceAccountTokenClaims, request: TokenRequest): UserInfo {
    const claim = (name: string, shown: string): string => {
      const value = legacy.get(name);
      if (!value) throw new Error(`${shown} claim is missing`);
      return value;
    };
    if (!subject) throw new Error('sub claim is missing');
    const namespace = claim('namespace', 'namespace');
    const secretName = claim('secret.name', 'secretName');
    const name = claim('service-account.name', 'serviceAccountName');
    const uid = claim('service-account.uid', 'serviceAccountUID');
    if (subject !== `${userPrefix}${namespace}:${name}`) throw new Error('sub claim is invalid');
    if (this.options.lookup) this.#lookUpLegacy(token, namespace, secretName, { name, uid }, request);
    return userOf(namespace, { name, uid }, undefined);
  }

  #lookUpLegacy(token: string, namespace: string, secretName: string, { name, uid }: Reference, request: TokenRequest): void {
    const secret = this.#secrets.get(namespace, secretName);
    if (!secret || secret.metadata.deletionTimestamp) throw new Error('Token has been invalidated');
    const stored = Buffer.from(secret.data?.['token'] ?? '', 'base64');
    const sent = Buffer.from(token);
    if (stored.length !== sent.length || !timingSafeEqual(stored, sent)) throw new Error("Token does not match server's copy");
    const account = this.#accounts.get(namespace, name);
    if (!account) throw new Error(`serviceaccounts ${JSON.stringify(name)} not found`);
    if (account.metadata.deletionTimestamp) throw new Error(`ServiceAccount ${namespace}/${name} has been deleted`);
    if (account.metadata.uid !== uid) throw new Error(`ServiceAccount UID (${account.metadata.uid}) does not match claim (${uid})`);
    this.options.onLegacyTokenUse?.(secret);
    if (secret.metadata.labels?.[invalidSince]) {
      this.options.onUse?.('invalidLegacyAuto');
      request.annotate?.('authentication.k8s.io/legacy-token-invalidated', `${secretName}/${namespace}`);
      throw new Error(
        `the token in secret ${namespace}/${secretName} for service account ${namespace}/${name} has been marked invalid. Use tokens from the TokenRequest API or manually created secret-based tokens, or remove the '${invalidSince}' label from the secret to temporarily allow use of this token`,
      );
    }
    if (account.secrets?.some((reference) => reference.name === secretName)) {
      request.warn?.(
        'Use tokens from the TokenRequest API or manually created secret-based tokens instead of auto-generated secret-based tokens.',
      );
      request.annotate?.('authentication.k8s.io/legacy-token-autogenerated-secret', secretName);
      this.options.onUse?.('legacyAuto');
    } else {
      request.annotate?.('authentication.k8s.io/legacy-token-manual-secret', secretName);
      this.options.onUse?.('legacyManual');
    }
  }
}

function userOf(namespace: string, { name, uid }: Reference, extra: UserInfo['extra']): UserInfo {
  return { name: `${userPrefix}${namespace}:${name}`, uid, groups: [groupPrefix, `${groupPrefix}:${namespace}`], ...(extra && { extra }) };
}

function extraOf(jti: string, pod: Reference | undefined, node: Reference | undefined): UserInfo['extra'] {
  const extra: Record<string, string[]> = {};
  if (pod) {
    extra['authentication.kubernetes.io/pod-name'] = [pod.name];
    extra['authentication.kubernetes.io/pod-uid'] = [pod.uid];
  }
  if (jti) extra['authentication.kubernetes.io/credential-id'] = [`JTI=${jti}`];
  if (node) {
    extra['authentication.kubernetes.io/node-name'] = [node.name];
    if (node.uid) extra['authentication.kubernetes.io/node-uid'] = [node.uid];
  }
  return Object.keys(extra).length > 0 ? extra : undefined;
}
