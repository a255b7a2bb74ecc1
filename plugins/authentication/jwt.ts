import { Buffer } from 'node:buffer';
import { constants, createPublicKey, type JsonWebKey, type KeyObject, verify } from 'node:crypto';
import { parseCertificate } from 'kubenest/sdk';
import { repeatedName } from './json-names.ts';

const maxTokenBytes = 64 * 1024;

interface JsonObject {
  readonly [name: string]: unknown;
}

/** A signed token in its parts; nothing of it is verified. */
export interface ParsedJwt {
  readonly algorithm: string;
  readonly keyId: string | undefined;
  /** The text of the claims. */
  readonly payload: string;
  readonly claims: JsonObject;
  /** The bytes that the signature is of. */
  readonly signed: Buffer;
  readonly signature: Buffer;
}

/**
 * undefined for a text that is no compact JWS of a JSON object. The header is read as go-jose reads it: no member twice, members
 * that it knows of their type, nothing critical but `b64`. The signature is of the parts as they are encoded in their shortest
 * form, whatever bits at their end nobody reads. docs/adr/0008 has the reasons. Upstream: go-jose.v2 (jws.go, shared.go).
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

/** Base64 for URLs without padding (RFC 7515, section 2); undefined for anything else. */
function decodePart(part: string): Buffer | undefined {
  return /^[\w-]*$/.test(part) && part.length % 4 !== 1 ? Buffer.from(part, 'base64url') : undefined;
}

interface Header {
  readonly alg?: string | null;
  readonly kid?: string | null;
  readonly b64?: unknown;
}

const isText = (value: unknown): boolean => typeof value === 'string';
/** Members of the header that must be of a type, where they are there and not null. */
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

/** A key in a token is never used, but what is no public key makes the token malformed. */
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

/** OpenSSL's names of the curves. */
const curves: Readonly<Record<string, string>> = { ES256: 'prime256v1', ES384: 'secp384r1', ES512: 'secp521r1' };

/**
 * True if the key made the signature. The algorithm must be one that fits the key: an RSA key is never taken for a shared
 * secret. Synchronous: some 50 µs.
 */
export function verifiesJwt({ algorithm, signed, signature }: ParsedJwt, key: KeyObject, algorithms: ReadonlySet<string>): boolean {
  if (!algorithms.has(algorithm)) return false;
  const hash = `sha${algorithm.slice(2)}`;
  if (algorithm.startsWith('RS')) return key.asymmetricKeyType === 'rsa' && verify(hash, signed, key, signature);
  if (algorithm.startsWith('PS')) {
    // Go takes a salt of any length.
    const padding = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO };
    return key.asymmetricKeyType === 'rsa' && verify(hash, signed, { key, ...padding }, signature);
  }
  if (key.asymmetricKeyType !== 'ec' || key.asymmetricKeyDetails?.namedCurve !== curves[algorithm]) return false;
  return verify(hash, signed, { key, dsaEncoding: 'ieee-p1363' }, signature);
}

/** A claim that is one text or a list of them. */
export function textsOf(claim: unknown): string[] {
  if (typeof claim === 'string') return [claim];
  return Array.isArray(claim) ? claim.filter((one): one is string => typeof one === 'string') : [];
}

const minSeconds = -(2n ** 63n);
/** Go counts seconds from the year 1 in 64 bits, and lets them overflow. */
const unixToInternal = 62_135_596_800n;

/** A NumericDate (RFC 7519, section 2) in milliseconds since 1970, as Go has it: beyond 64 bits it is in the far past. */
export function timeOfNumericDate(value: number): number {
  const isInRange = value >= -(2 ** 63) && value < 2 ** 63;
  const seconds = isInRange ? BigInt(Math.trunc(value)) : minSeconds;
  return Number(BigInt.asIntN(64, seconds + unixToInternal) - unixToInternal) * 1000;
}
