import type { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { contextTag, DerError, DerReader, rightAligned, tags } from './der-reader.ts';
import { type DistinguishedName, parseName } from './distinguished-name.ts';
import { type CertificateExtensions, parseExtensions } from './extensions.ts';
import { parseAlgorithm, parsePublicKeyInfo, type PublicKeyInfo } from './public-key.ts';
import { type SignatureAlgorithm, signatureAlgorithmOf } from './signature.ts';

/** A parsed certificate: verification and users of its data read the same fields. */
export interface Certificate extends CertificateExtensions {
  readonly der: Buffer;
  /** Version number, from 1. */
  readonly version: number;
  readonly serialNumber: bigint;
  /** The signed bytes. */
  readonly signed: Buffer;
  readonly signature: Buffer;
  /** undefined for an unsupported algorithm. */
  readonly algorithm: SignatureAlgorithm | undefined;
  readonly issuer: DistinguishedName;
  readonly subject: DistinguishedName;
  /** Milliseconds since 1970. */
  readonly notBefore: number;
  /** Milliseconds since 1970. */
  readonly notAfter: number;
  readonly publicKey: PublicKeyInfo;
}

/** Parses a certificate. Throws a DerError if it is malformed. Upstream: crypto/x509/parser.go (ParseCertificate). */
export function parseCertificate(der: Buffer): Certificate {
  const outer = new DerReader(der);
  const whole = outer.element('x509: malformed certificate', tags.sequence);
  outer.end('x509: trailing data');
  const fields = new DerReader(whole.content);
  const signed = fields.element('x509: malformed tbs certificate', tags.sequence);
  const outerAlgorithm = fields.element('x509: malformed algorithm identifier', tags.sequence);
  const body = parseBody(new DerReader(signed.content), outerAlgorithm.content);
  const signature = rightAligned(fields.bitString('x509: malformed signature'));
  return { ...body, der: whole.whole, signed: signed.whole, signature };
}

function parseBody(tbs: DerReader, outerAlgorithm: Buffer): Omit<Certificate, 'der' | 'signed' | 'signature'> {
  const version = parseVersion(tbs);
  const serialNumber = tbs.integer('x509: malformed serial number');
  if (serialNumber < 0n) throw new DerError('x509: negative serial number');
  const algorithm = tbs.element('x509: malformed signature algorithm identifier', tags.sequence).content;
  if (!algorithm.equals(outerAlgorithm)) throw new DerError("x509: inner and outer signature algorithm identifiers don't match");
  const issuer = tbs.element('x509: malformed issuer', tags.sequence);
  const validity = tbs.inside(tags.sequence, 'x509: malformed validity');
  return {
    version,
    serialNumber,
    algorithm: signatureAlgorithmOf(parseAlgorithm(new DerReader(algorithm))),
    issuer: parseName(issuer),
    notBefore: validity.time('x509: malformed notBefore'),
    notAfter: validity.time('x509: malformed notAfter'),
    subject: parseName(tbs.element('x509: malformed subject', tags.sequence)),
    publicKey: parsePublicKeyInfo(tbs.element('x509: malformed spki', tags.sequence)),
    ...parseOptionalFields(tbs, version),
  };
}

function parseVersion(tbs: DerReader): number {
  const field = tbs.insideOptional(contextTag(0, 'constructed'), 'x509: malformed version');
  const version = field ? field.integer('x509: malformed version') : 0n;
  field?.end('x509: malformed version');
  if (version < 0n) throw new DerError('x509: malformed version');
  if (version > 2n) throw new DerError('x509: invalid version');
  return Number(version) + 1;
}

function parseOptionalFields(tbs: DerReader, version: number): CertificateExtensions {
  if (version > 1) {
    tbs.skipOptional(contextTag(1), 'x509: malformed issuerUniqueID');
    tbs.skipOptional(contextTag(2), 'x509: malformed subjectUniqueID');
  }
  const field = version === 3 ? tbs.insideOptional(contextTag(3, 'constructed'), 'x509: malformed extensions') : undefined;
  return parseExtensions(field?.inside(tags.sequence, 'x509: malformed extensions'));
}

/** Returns the SHA-256 of the certificate, in lower-case hex. */
export function fingerprintOf({ der }: Certificate): string {
  return createHash('sha256').update(der).digest('hex');
}
