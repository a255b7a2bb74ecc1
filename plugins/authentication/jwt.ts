import { Buffer } from 'node:buffer';
import { constants, createPublicKey, type JsonWebKey, type KeyObject, verify } from 'node:crypto';
import { parseCertificate } from '#sdk/internal';
import { repeatedName } from './json-names.ts';

const maxTokenBytes = 64 * 1024;

interface JsonObject {
  readonly [name: string]: unknown;
}

/** The parts of an unverified JWT. */
export interface ParsedJwt {
  readonly algorithm: string;
  readonly keyId: string | undefined;
  /** JSON of the claims. */
  readonly payload: string;
  readonly claims: JsonObject;
  /** The signed bytes. */
  readonly signed: Buffer;
  readonly signature: Buffer;
}

/**
 * Parses a compact JWS whose payload is a JSON object; undefined for other texts. The header is validated like go-jose does:
 * no duplicate members, known members of their types, nothing critical but `b64`. The signature covers the canonical
 * encoding of the parts, ignoring unused trailing bits. docs/adr/0008 has the reasons. Upstream: go-jose.v2 (jws.go,
 * shared.go).
 */
export function parseJwt(token: string): ParsedJwt | undefined {
  if (token.length > maxTokenBytes) return undefined;
  const parts = token.split('.').map(decodePart);
  const [header, payload, signature] = parts;
  if (!header || !payload || !signature || parts.length > 3) return undefined;
  const head = parseHeader(header.toString('utf8'));
  const text = payload.toString('utf8');
  const claims = parseObject(text);
  if (!head || !claims) return undefined;
  const isEncoded = head.b64 !== false;
  return {
    algorithm: head.alg ?? '',
    keyId: head.kid || undefined,
    payload: text,
    claims,
    signed: Buffer.concat([
      Buffer.from(`${header.toString('base64url')}.`),
      isEncoded ? Buffer.from(payload.toString('base64url')) : payload,
    ]),
    signature,
  };
}

/** Decodes unpadded base64url (RFC 7515, section 2); undefined for other texts. */
function decodePart(part: string): Buffer | undefined {
  return /^[\w-]*$/.test(part) && part.length % 4 !== 1 ? Buffer.from(part, 'base64url') : undefined;
}

interface Header {
  readonly alg?: string | null;
  readonly kid?: string | null;
  readonly b64?: unknown;
}

const isText = (value: unknown): boolean => typeof value === 'string';
/** Required types of header members that are present and not null. */
const headerTypes: Readonly<Record<string, (value: unknown) => boolean>> = {
  alg: isText,
  kid: isText,
  nonce: isText,
  jwk: isPublicKey,
  x5c: (value) => Array.isArray(value) && value.every(isCertificate),
  crit: (value) => Array.isArray(value) && value.every((name) => name === 'b64'),
};

function parseHeader(text: string): Header | undefined {
  const header = parseObject(text);
  if (!header || repeatedName(text, () => true) !== undefined) return undefined;
  for (const [name, isValid] of Object.entries(headerTypes)) {
    const value = Object.hasOwn(header, name) ? header[name] : null;
    if (value !== null && !isValid(value)) return undefined;
  }
  return { alg: header['alg'], kid: header['kid'], b64: header['b64'] } as Header;
}

/** True for a valid public key. A key in the header is never used, but an invalid one makes the token malformed. */
function isPublicKey(value: unknown): boolean {
  try {
    return createPublicKey({ key: value as JsonWebKey, format: 'jwk' }).type === 'public' && !Object.hasOwn(value as object, 'd');
  } catch {
    return false;
  }
}

function isCertificate(value: unknown): boolean {
  try {
    return typeof value === 'string' && parseCertificate(Buffer.from(value, 'base64')).version > 0;
  } catch {
    return false;
  }
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

/** OpenSSL names of the curves. */
const curves: Readonly<Record<string, string>> = { ES256: 'prime256v1', ES384: 'secp384r1', ES512: 'secp521r1' };

/**
 * True if the key created the signature. The algorithm must match the key type, so an RSA key is never used as a shared
 * secret. Synchronous, about 50 µs.
 */
export function verifiesJwt({ algorithm, signed, signature }: ParsedJwt, key: KeyObject, algorithms: ReadonlySet<string>): boolean {
  if (!algorithms.has(algorithm)) return false;
  const hash = `sha${algorithm.slice(2)}`;
  if (algorithm.startsWith('RS')) return key.asymmetricKeyType === 'rsa' && verify(hash, signed, key, signature);
  if (algorithm.startsWith('PS')) {
    // Go accepts any salt length.
    const padding = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO };
    return key.asymmetricKeyType === 'rsa' && verify(hash, signed, { key, ...padding }, signature);
  }
  if (key.asymmetricKeyType !== 'ec' || key.asymmetricKeyDetails?.namedCurve !== curves[algorithm]) return false;
  return verify(hash, signed, { key, dsaEncoding: 'ieee-p1363' }, signature);
}

/** Returns the values of a claim that is a string or a list of strings. */
export function textsOf(claim: unknown): string[] {
  if (typeof claim === 'string') return [claim];
  return Array.isArray(claim) ? claim.filter((one): one is string => typeof one === 'string') : [];
}

const minSeconds = -(2n ** 63n);
/** Go represents times as 64-bit seconds since the year 1, with overflow. */
const unixToInternal = 62_135_596_800n;

/**
 * Converts a NumericDate (RFC 7519, section 2) to milliseconds since 1970 like Go: beyond 64 bits it wraps to the distant
 * past.
 */
export function timeOfNumericDate(value: number): number {
  const isInRange = value >= -(2 ** 63) && value < 2 ** 63;
  const seconds = isInRange ? BigInt(Math.trunc(value)) : minSeconds;
  return Number(BigInt.asIntN(64, seconds + unixToInternal) - unixToInternal) * 1000;
}
