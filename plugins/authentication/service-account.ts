import { Buffer } from 'node:buffer';
import { type KeyObject, timingSafeEqual } from 'node:crypto';
import {
  type Credentials,
  type Informer,
  type Informers,
  type KubeObject,
  quoteList,
  type TokenAuthenticator,
  type UserInfo,
} from 'kubenest/sdk';
import { type ParsedJwt, parseJwt, textsOf, verifiesJwt } from './jwt.ts';

/** A public key with its id, as issuers of tokens name it. */
export interface ServiceAccountKey {
  readonly id: string;
  readonly key: KeyObject;
}

export interface ServiceAccountOptions {
  /** `--service-account-issuer`: tokens of all of them are accepted. */
  readonly issuers: readonly string[];
  readonly keys: readonly ServiceAccountKey[];
  /** `--api-audiences`. */
  readonly audiences: readonly string[];
  /** `--service-account-lookup`: tokens of secrets must still be there. What tokens of requests are bound to is always looked up. */
  readonly lookup: boolean;
  /** Told when a token of a secret is used, so that the secret is labelled with the day. */
  readonly onLegacyTokenUse?: ((secret: KubeObject) => void) | undefined;
  /** Told what each token is that was looked at. */
  readonly onUse?: ((use: TokenUse) => void) | undefined;
  readonly now?: () => number;
}

/** Bound tokens are in time or overdue; those of secrets were made by somebody, or by a controller, and may be invalid since. */
export type TokenUse = 'legacy' | 'stale' | 'valid' | 'legacyManual' | 'legacyAuto' | 'invalidLegacyAuto';

type TokenRequest = Pick<Credentials, 'audiences' | 'warn' | 'annotate'>;
type Claims = ParsedJwt['claims'];

interface Reference {
  readonly name: string;
  readonly uid: string;
}
interface Secret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}
interface ServiceAccount extends KubeObject {
  readonly secrets?: readonly { readonly name?: string }[];
}

const legacyIssuer = 'kubernetes/serviceaccount';
const algorithms: ReadonlySet<string> = new Set(['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512']);
const userPrefix = 'system:serviceaccount:';
const groupPrefix = 'system:serviceaccounts';
/** How far clocks may differ. */
const leewayMs = 60_000;
const invalidSince = 'kubernetes.io/legacy-token-invalid-since';
const invalidated = 'service account token has been invalidated';

/**
 * Tokens of service accounts: those of requests, which are bound to an audience and maybe to a pod, a node or a secret, and
 * those of secrets, which never end. Upstream: kubernetes/pkg/serviceaccount (jwt.go, claims.go, legacy.go).
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

  authenticateToken(token: string, request: TokenRequest): UserInfo | undefined {
    const jwt = parseJwt(token);
    const issuer = jwt?.claims['iss'];
    if (!jwt || typeof issuer !== 'string' || !(issuer === legacyIssuer || this.#issuers.has(issuer))) return undefined;
    this.#verify(jwt);
    const audiences = this.#audiencesOf(jwt.claims, request);
    const user = issuer === legacyIssuer ? this.#legacyUser(token, jwt.claims, request) : this.#user(jwt.claims, request);
    return { ...user, audiences };
  }

  #verify(jwt: ParsedJwt): void {
    const { keys } = this.options;
    const named = keys.filter(({ id }) => id === jwt.keyId);
    const candidates = jwt.keyId === undefined || named.length === 0 ? keys : named;
    if (candidates.length === 0) throw new Error('invalid signature, no keys found');
    if (!candidates.some(({ key }) => verifiesJwt(jwt, key, algorithms)))
      throw new Error('go-jose/go-jose: error in cryptographic primitive');
  }

  /** Those of the wanted audiences that the token has; a token without audiences is for the server's own. */
  #audiencesOf(claims: Claims, request: TokenRequest): readonly string[] {
    let audiences: readonly string[] = textsOf(claims['aud']);
    if (audiences.length === 0) {
      request.annotate?.('authentication.k8s.io/legacy-token', String(claims['sub'] ?? ''));
      this.options.onUse?.('legacy');
      audiences = this.options.audiences;
    }
    const wanted = request.audiences ?? this.options.audiences;
    const common = audiences.filter((audience) => wanted.includes(audience));
    if (common.length === 0 && this.options.audiences.length > 0)
      throw new Error(`token audiences ${quoteList(audiences)} is invalid for the target audiences ${quoteList(wanted)}`);
    return common;
  }

  #user(claims: Claims, request: TokenRequest): UserInfo {
    this.#checkTimes(claims);
    const kubernetes = objectOf(claims['kubernetes.io']);
    const namespace = textOf(kubernetes['namespace']);
    const account = referenceOf(kubernetes['serviceaccount']) ?? { name: '', uid: '' };
    const stored = this.#accounts.get(namespace, account.name);
    if (!stored) throw new Error(`serviceaccounts ${JSON.stringify(account.name)} not found`);
    if (stored.metadata.uid !== account.uid)
      throw new Error(`service account UID (${stored.metadata.uid}) does not match claim (${account.uid})`);
    if (this.#isGone(stored)) throw new Error(`service account ${namespace}/${account.name} has been deleted`);

    const secret = referenceOf(kubernetes['secret']);
    const pod = referenceOf(kubernetes['pod']);
    const node = referenceOf(kubernetes['node']);
    if (secret) this.#checkBound(this.#secrets.get(namespace, secret.name), secret, 'secret', 'service account secret ref');
    if (pod) this.#checkBound(this.#pods.get(namespace, pod.name), pod, 'pod', 'service account pod ref');
    else if (node) this.#checkBound(this.#nodes.get('', node.name), node, 'node', 'service account node ref');

    const warnAfter = kubernetes['warnafter'];
    const seconds = Math.floor(this.#now() / 1000);
    const hasLimit = typeof warnAfter === 'number' && warnAfter > 0;
    if (hasLimit) this.options.onUse?.(seconds > warnAfter ? 'stale' : 'valid');
    if (hasLimit && seconds > warnAfter) {
      request.annotate?.(
        'authentication.k8s.io/stale-token',
        `subject: ${textOf(claims['sub'])}, seconds after warning threshold: ${seconds - warnAfter}`,
      );
    }
    return userOf(namespace, account, extraOf(textOf(claims['jti']), pod, node));
  }

  #checkTimes({ exp, nbf, iat }: Claims): void {
    const now = this.#now();
    if (typeof nbf === 'number' && now + leewayMs < nbf * 1000) throw new Error('service account token is not valid yet');
    if (typeof exp === 'number' && now - leewayMs > exp * 1000) throw new Error('service account token has expired');
    if (typeof iat === 'number' && now + leewayMs < iat * 1000) throw new Error('service account token is issued in the future');
  }

  /** The object that a token lives and dies with. */
  #checkBound(object: KubeObject | undefined, { uid }: Reference, what: string, claim: string): void {
    if (!object) throw new Error(invalidated);
    if (object.metadata.uid !== uid) throw new Error(`${what} UID (${object.metadata.uid}) does not match ${claim} claim (${uid})`);
    if (this.#isGone(object)) throw new Error(invalidated);
  }

  #isGone({ metadata: { deletionTimestamp } }: KubeObject): boolean {
    return deletionTimestamp !== undefined && Date.parse(deletionTimestamp) < this.#now() - leewayMs;
  }

  #legacyUser(token: string, claims: Claims, request: TokenRequest): UserInfo {
    const claim = (name: string, shown: string): string => {
      const value = textOf(claims[name]);
      if (!value) throw new Error(`${shown} claim is missing`);
      return value;
    };
    const subject = claim('sub', 'sub');
    const namespace = claim('kubernetes.io/serviceaccount/namespace', 'namespace');
    const secretName = claim('kubernetes.io/serviceaccount/secret.name', 'secretName');
    const name = claim('kubernetes.io/serviceaccount/service-account.name', 'serviceAccountName');
    const uid = claim('kubernetes.io/serviceaccount/service-account.uid', 'serviceAccountUID');
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

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function objectOf(value: unknown): Claims {
  return typeof value === 'object' && value !== null ? (value as Claims) : {};
}

function referenceOf(value: unknown): Reference | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  return { name: textOf((value as Claims)['name']), uid: textOf((value as Claims)['uid']) };
}
