import type { Buffer } from 'node:buffer';
import { createPublicKey, type KeyObject } from 'node:crypto';
import { DerError, type DerElement, DerReader, rightAligned, tags } from './der-reader.ts';

/** Supported kinds of public keys, by the algorithm's object identifier. */
const algorithms: ReadonlyMap<string, PublicKeyAlgorithm> = new Map([
  ['1.2.840.113549.1.1.1', 'RSA'],
  ['1.2.840.10045.2.1', 'ECDSA'],
  ['1.3.101.112', 'Ed25519'],
  ['1.3.101.110', 'X25519'],
  ['1.2.840.10040.4.1', 'DSA'],
]);
/** Supported named curves, by object identifier. */
const curves: ReadonlySet<string> = new Set(['1.3.132.0.33', '1.2.840.10045.3.1.7', '1.3.132.0.34', '1.3.132.0.35']);
const emptyParameters = '0500';

export type PublicKeyAlgorithm = 'RSA' | 'ECDSA' | 'Ed25519' | 'X25519' | 'DSA';

/** A SubjectPublicKeyInfo. */
export interface PublicKeyInfo {
  readonly der: Buffer;
  /** undefined for an unsupported algorithm. */
  readonly algorithm: PublicKeyAlgorithm | undefined;
  /** Present if the algorithm is supported. */
  readonly key: KeyObject | undefined;
}

/** An algorithm's object identifier, and its parameters in hex; undefined if there are none. */
export interface AlgorithmIdentifier {
  readonly algorithm: string;
  readonly parameters: DerElement | undefined;
}

/** Parses the content of an AlgorithmIdentifier. Upstream: crypto/x509/parser.go (parseAI). */
export function parseAlgorithm(reader: DerReader): AlgorithmIdentifier {
  const algorithm = reader.objectIdentifier('x509: malformed OID');
  return { algorithm, parameters: reader.isEmpty ? undefined : reader.element('x509: malformed parameters') };
}

/** Parses a SubjectPublicKeyInfo. Upstream: crypto/x509/parser.go (parsePublicKey). */
export function parsePublicKeyInfo({ whole, content }: DerElement): PublicKeyInfo {
  const reader = new DerReader(content);
  const identifier = parseAlgorithm(reader.inside(tags.sequence, 'x509: malformed public key algorithm identifier'));
  const bits = reader.bitString('x509: malformed subjectPublicKey');
  const algorithm = algorithms.get(identifier.algorithm);
  if (algorithm === undefined) return { der: whole, algorithm, key: undefined };
  checkForm[algorithm](identifier, rightAligned(bits));
  return { der: whole, algorithm, key: keyOf(whole) };
}

function keyOf(der: Buffer): KeyObject {
  try {
    return createPublicKey({ key: der, format: 'der', type: 'spki' });
  } catch (cause) {
    throw new DerError('x509: invalid public key', { cause });
  }
}

/** Checks of the encoding beyond those of OpenSSL, so that a key has only one encoding. */
const checkForm: Readonly<Record<PublicKeyAlgorithm, (identifier: AlgorithmIdentifier, data: Buffer) => void>> = {
  RSA({ parameters }, data) {
    if (parameters?.whole.toString('hex') !== emptyParameters) throw new DerError('x509: RSA key missing NULL parameters');
    const key = new DerReader(data).inside(tags.sequence, 'x509: invalid RSA public key');
    const modulus = key.integer('x509: invalid RSA modulus');
    const exponent = key.integer('x509: invalid RSA public exponent');
    if (modulus <= 0n) throw new DerError('x509: RSA modulus is not a positive number');
    if (exponent <= 0n || exponent >= 2n ** 63n) throw new DerError('x509: RSA public exponent is not a positive number');
  },
  ECDSA({ parameters }, data) {
    const curve = parameters && new DerReader(parameters.whole).objectIdentifier('x509: invalid ECDSA parameters');
    if (curve === undefined) throw new DerError('x509: invalid ECDSA parameters');
    if (!curves.has(curve)) throw new DerError('x509: unsupported elliptic curve');
    if (data[0] !== 0x04) throw new DerError('x509: the point of an ECDSA key must be uncompressed');
  },
  Ed25519: withoutParameters,
  X25519: withoutParameters,
  DSA({ parameters }) {
    if (parameters?.tag !== tags.sequence) throw new DerError('x509: invalid DSA parameters');
  },
};

function withoutParameters({ parameters }: AlgorithmIdentifier): void {
  if (parameters) throw new DerError('x509: key encoded with illegal parameters');
}
