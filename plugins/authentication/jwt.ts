import { Buffer } from 'node:buffer';
import { type KeyObject, verify } from 'node:crypto';

const maxTokenBytes = 64 * 1024;

interface JsonObject {
  readonly [name: string]: unknown;
}

/** A signed token in its parts; nothing of it is verified. */
export interface ParsedJwt {
  readonly algorithm: string;
  readonly keyId: string | undefined;
  readonly claims: JsonObject;
  readonly signed: Buffer;
  readonly signature: Buffer;
}

/** undefined for a text that is no compact JWS of a JSON object. */
export function parseJwt(token: string): ParsedJwt | undefined {
  if (token.length > maxTokenBytes) return undefined;
  const [header, payload, signature, ...more] = token.split('.');
  if (header === undefined || payload === undefined || signature === undefined || more.length > 0) return undefined;
  const head = jsonOf(header);
  const claims = jsonOf(payload);
  if (!head || !claims || typeof head['alg'] !== 'string' || head['crit'] !== undefined) return undefined;
  return {
    algorithm: head['alg'],
    keyId: typeof head['kid'] === 'string' ? head['kid'] : undefined,
    claims,
    signed: Buffer.from(`${header}.${payload}`),
    signature: Buffer.from(signature, 'base64url'),
  };
}

function jsonOf(part: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

/** OpenSSL's names of the curves. */
const curves: Readonly<Record<string, string>> = { ES256: 'prime256v1', ES384: 'secp384r1', ES512: 'secp521r1' };

/**
 * Whether a key made the signature. The algorithm must be one that fits the key: an RSA key is never taken for a shared
 * secret. Synchronous: some 50 µs.
 */
export function verifiesJwt({ algorithm, signed, signature }: ParsedJwt, key: KeyObject, algorithms: ReadonlySet<string>): boolean {
  if (!algorithms.has(algorithm)) return false;
  const hash = `sha${algorithm.slice(2)}`;
  if (algorithm.startsWith('RS')) return key.asymmetricKeyType === 'rsa' && verify(hash, signed, key, signature);
  if (algorithm.startsWith('PS')) {
    return (
      key.asymmetricKeyType === 'rsa' && verify(hash, signed, { key, padding: 6, saltLength: Number(algorithm.slice(2)) / 8 }, signature)
    );
  }
  if (key.asymmetricKeyType !== 'ec' || key.asymmetricKeyDetails?.namedCurve !== curves[algorithm]) return false;
  return verify(hash, signed, { key, dsaEncoding: 'ieee-p1363' }, signature);
}

/** A claim that is one text or a list of them. */
export function textsOf(claim: unknown): string[] {
  if (typeof claim === 'string') return [claim];
  return Array.isArray(claim) ? claim.filter((one): one is string => typeof one === 'string') : [];
}
