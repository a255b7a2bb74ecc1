import { repeatedName } from './json-names.ts';
import { type ParsedJwt, timeOfNumericDate } from './jwt.ts';

/** An object that a token refers to. */
export interface Reference {
  readonly name: string;
  readonly uid: string;
}

/** Typed claims of a service account token; missing strings are empty. Times are in milliseconds since 1970. */
export interface ServiceAccountTokenClaims {
  readonly audiences: readonly string[];
  readonly expiry: number | undefined;
  readonly id: string;
  readonly issuedAt: number | undefined;
  readonly issuer: string;
  readonly notBefore: number | undefined;
  readonly subject: string;
  readonly namespace: string;
  readonly account: Reference;
  readonly pod: Reference | undefined;
  readonly secret: Reference | undefined;
  readonly node: Reference | undefined;
  readonly warnAfter: number | undefined;
  /** Claims of legacy tokens from secrets, by name. */
  readonly legacy: ReadonlyMap<string, string>;
}

type Members = Readonly<Record<string, unknown>>;

const none: Members = {};
const privateClaims = 'kubernetes.io';
const legacyPrefix = 'kubernetes.io/serviceaccount/';
const references = ['serviceaccount', 'pod', 'secret', 'node'];

/**
 * Reads the claims of a verified token. Throws for claims of a wrong type and for duplicate claims. Upstream:
 * go-jose.v2/jwt/claims.go, kubernetes/pkg/serviceaccount (claims.go, legacy.go).
 */
export function readServiceAccountClaims({ payload, claims }: ParsedJwt): ServiceAccountTokenClaims {
  const repeated = repeatedName(payload, isRead);
  if (repeated !== undefined) throw new Error(`json: duplicate key '${repeated}' in object`);
  const kubernetes = objectOf(claims, privateClaims) ?? none;
  return {
    audiences: audiencesOf(claims),
    expiry: timeOf(claims, 'exp'),
    id: textOf(claims, 'jti'),
    issuedAt: timeOf(claims, 'iat'),
    issuer: textOf(claims, 'iss'),
    notBefore: timeOf(claims, 'nbf'),
    subject: textOf(claims, 'sub'),
    namespace: textOf(kubernetes, 'namespace'),
    account: referenceOf(kubernetes, 'serviceaccount') ?? { name: '', uid: '' },
    pod: referenceOf(kubernetes, 'pod'),
    secret: referenceOf(kubernetes, 'secret'),
    node: referenceOf(kubernetes, 'node'),
    warnAfter: timeOf(kubernetes, 'warnafter'),
    legacy: new Map(
      Object.keys(claims)
        .filter((name) => name.startsWith(legacyPrefix))
        .map((name) => [name.slice(legacyPrefix.length), textOf(claims, name)]),
    ),
  };
}

/** True for the objects in which duplicate names are rejected; other content is ignored. */
function isRead([first, second, ...more]: readonly string[]): boolean {
  if (first === undefined) return true;
  return first === privateClaims && (second === undefined || (references.includes(second) && more.length === 0));
}

/** Returns undefined for a missing or null member. */
function memberOf(members: Members, name: string): unknown {
  return Object.hasOwn(members, name) ? (members[name] ?? undefined) : undefined;
}

function refuse(name: string, wanted: string): never {
  throw new Error(`go-jose/go-jose/jwt: claim ${JSON.stringify(name)} must be ${wanted}`);
}

function textOf(members: Members, name: string): string {
  const value = memberOf(members, name) ?? '';
  return typeof value === 'string' ? value : refuse(name, 'a text');
}

function timeOf(members: Members, name: string): number | undefined {
  const value = memberOf(members, name);
  if (value === undefined) return undefined;
  return typeof value === 'number' && Number.isFinite(value) ? timeOfNumericDate(value) : refuse(name, 'a number');
}

function objectOf(members: Members, name: string): Members | undefined {
  const value = memberOf(members, name);
  if (value === undefined) return undefined;
  return typeof value === 'object' && !Array.isArray(value) ? (value as Members) : refuse(name, 'an object');
}

function referenceOf(members: Members, name: string): Reference | undefined {
  const value = objectOf(members, name);
  return value && { name: textOf(value, 'name'), uid: textOf(value, 'uid') };
}

/** Returns the audiences. Unlike other claims, this one must not be null. */
function audiencesOf(claims: Members): readonly string[] {
  if (!Object.hasOwn(claims, 'aud')) return [];
  const value = claims['aud'];
  if (typeof value === 'string') return [value];
  if (!Array.isArray(value) || value.some((one) => typeof one !== 'string')) return refuse('aud', 'a text or a list of texts');
  return value as string[];
}
