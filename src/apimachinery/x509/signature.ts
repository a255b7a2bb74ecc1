import type { Buffer } from 'node:buffer';
import { constants, type KeyObject, verify, type VerifyKeyObjectInput } from 'node:crypto';
import { contextTag, DerError, DerReader, tags } from './der-reader.ts';
import { type AlgorithmIdentifier, parseAlgorithm, type PublicKeyAlgorithm, type PublicKeyInfo } from './public-key.ts';

/** Parameters of a signature. */
export interface SignatureAlgorithm {
  readonly key: PublicKeyAlgorithm;
  /** undefined if the kind of key implies it. */
  readonly hash: string | undefined;
  /** True for RSASSA-PSS with a salt as long as the hash. */
  readonly isPss?: boolean;
}

const rsassaPss = '1.2.840.113549.1.1.10';
const mgf1 = '1.2.840.113549.1.1.8';
const algorithms: ReadonlyMap<string, SignatureAlgorithm> = new Map<string, SignatureAlgorithm>([
  ['1.2.840.113549.1.1.4', { key: 'RSA', hash: 'md5' }],
  ['1.2.840.113549.1.1.5', { key: 'RSA', hash: 'sha1' }],
  ['1.3.14.3.2.29', { key: 'RSA', hash: 'sha1' }],
  ['1.2.840.113549.1.1.11', { key: 'RSA', hash: 'sha256' }],
  ['1.2.840.113549.1.1.12', { key: 'RSA', hash: 'sha384' }],
  ['1.2.840.113549.1.1.13', { key: 'RSA', hash: 'sha512' }],
  ['1.2.840.10040.4.3', { key: 'DSA', hash: 'sha1' }],
  ['2.16.840.1.101.3.4.3.2', { key: 'DSA', hash: 'sha256' }],
  ['1.2.840.10045.4.1', { key: 'ECDSA', hash: 'sha1' }],
  ['1.2.840.10045.4.3.2', { key: 'ECDSA', hash: 'sha256' }],
  ['1.2.840.10045.4.3.3', { key: 'ECDSA', hash: 'sha384' }],
  ['1.2.840.10045.4.3.4', { key: 'ECDSA', hash: 'sha512' }],
]);
const ed25519 = '1.3.101.112';
const pssHashes: Readonly<Record<string, readonly [hash: string, saltLength: bigint]>> = {
  '2.16.840.1.101.3.4.2.1': ['sha256', 32n],
  '2.16.840.1.101.3.4.2.2': ['sha384', 48n],
  '2.16.840.1.101.3.4.2.3': ['sha512', 64n],
};
const failures: Readonly<Partial<Record<PublicKeyAlgorithm, string>>> = {
  RSA: 'crypto/rsa: verification error',
  ECDSA: 'x509: ECDSA verification failure',
  Ed25519: 'x509: Ed25519 verification failure',
};
/** Go's names of key types. */
const goTypes: Readonly<Partial<Record<PublicKeyAlgorithm, string>>> = {
  RSA: '*rsa.PublicKey',
  ECDSA: '*ecdsa.PublicKey',
  Ed25519: 'ed25519.PublicKey',
};
const unimplemented = 'x509: cannot verify signature: algorithm unimplemented';

/** Returns undefined for an unsupported algorithm. Upstream: crypto/x509/x509.go (getSignatureAlgorithmFromAI). */
export function signatureAlgorithmOf(identifier: AlgorithmIdentifier): SignatureAlgorithm | undefined {
  const { algorithm, parameters } = identifier;
  if (algorithm === ed25519) return parameters ? undefined : { key: 'Ed25519', hash: undefined };
  if (algorithm !== rsassaPss) return algorithms.get(algorithm);
  try {
    return parameters && pssAlgorithm(parameters.whole);
  } catch (error) {
    if (error instanceof DerError) return undefined;
    throw error;
  }
}

/** Parses the parameters of RSASSA-PSS: one hash for the message and the mask, and a salt of its length. */
function pssAlgorithm(parameters: Buffer): SignatureAlgorithm | undefined {
  const problem = 'x509: invalid RSASSA-PSS parameters';
  const reader = new DerReader(parameters).inside(tags.sequence, problem);
  const nested = (number: number): DerReader => reader.inside(contextTag(number, 'constructed'), problem);
  const hash = parseAlgorithm(nested(0).inside(tags.sequence, problem));
  const mask = parseAlgorithm(nested(1).inside(tags.sequence, problem));
  const saltLength = nested(2).integer(problem);
  const trailer = reader.insideOptional(contextTag(3, 'constructed'), problem)?.integer(problem) ?? 1n;
  if (mask.algorithm !== mgf1 || !mask.parameters || trailer !== 1n) return undefined;
  const maskHash = parseAlgorithm(new DerReader(mask.parameters.whole).inside(tags.sequence, problem));
  const known = pssHashes[hash.algorithm];
  const hasNoParameters = [hash, maskHash].every(({ parameters: own }) => own === undefined || own.tag === tags.null);
  if (!known || saltLength !== known[1] || maskHash.algorithm !== hash.algorithm || !hasNoParameters) return undefined;
  return { key: 'RSA', hash: known[0], isPss: true };
}

export interface Signed {
  readonly signed: Buffer;
  readonly signature: Buffer;
  readonly algorithm: SignatureAlgorithm | undefined;
}

/**
 * Returns the error of a signature; undefined if it is valid. SHA-1 is allowed only for certificate requests. Upstream: crypto/x509/x509.go
 * (checkSignature).
 */
export function signatureProblem(
  { signed, signature, algorithm }: Signed,
  { key, algorithm: kind }: PublicKeyInfo,
  { allowsSha1 = false } = {},
): string | undefined {
  if (!algorithm || !key || !kind) return unimplemented;
  if (algorithm.hash === 'md5' || (algorithm.hash === 'sha1' && !allowsSha1))
    return `x509: cannot verify signature: insecure algorithm ${shown(algorithm)}`;
  const failure = failures[kind];
  if (failure === undefined) return unimplemented;
  if (algorithm.key !== kind)
    return `x509: signature algorithm specifies an ${algorithm.key} public key, but have public key of type ${goTypes[kind]}`;
  return isVerified(algorithm, key, signed, signature) ? undefined : failure;
}

/** Formats a signature algorithm. Upstream: crypto/x509/x509.go (SignatureAlgorithm.String). */
function shown({ key, hash = '' }: SignatureAlgorithm): string {
  return key === 'RSA' ? `${hash.toUpperCase()}-RSA` : `${key}-${hash.toUpperCase()}`;
}

function isVerified({ hash, isPss }: SignatureAlgorithm, key: KeyObject, signed: Buffer, signature: Buffer): boolean {
  const input: KeyObject | VerifyKeyObjectInput = isPss
    ? { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
    : key;
  try {
    return verify(hash, signed, input, signature);
  } catch {
    // OpenSSL throws for unsuitable keys, such as short RSA keys.
    return false;
  }
}
