import { Buffer } from 'node:buffer';
import { createHash, type KeyObject, randomBytes, sign } from 'node:crypto';
import { parseIPSloppy } from '#apimachinery/validation/ip';
import { parseCertificate } from '#apimachinery/x509/certificate';
import { contextTag } from '#apimachinery/x509/der-reader';
import {
  bitString,
  boolean,
  element,
  integer,
  objectIdentifier,
  octetString,
  sequence,
  set,
  time,
  utf8String,
} from '#apimachinery/x509/der-writer';
import { extendedKeyUsages } from '#apimachinery/x509/verify-certificate';

/**
 * Encoder of RFC 5280 certificates with P-256 keys. Loading and initializing a general X.509 library would take a tenth of the server's
 * start.
 */

/** An attribute of a name: its type as in RFC 4514, and its value. */
export type NameAttribute = readonly [type: 'CN' | 'O', value: string];

export interface CertificateTemplate {
  readonly subject: readonly NameAttribute[];
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly publicKey: KeyObject;
  /** True if the certificate may sign others. */
  readonly isAuthority: boolean;
  /** Permitted usages; empty: unrestricted. */
  readonly usages: readonly ('server' | 'client')[];
  /** DNS names and IP addresses. */
  readonly names: readonly string[];
}

/** Signer of a certificate. */
export interface Issuer {
  /** DER certificate of the signer; undefined for a self-signed certificate. */
  readonly certificate: Uint8Array | undefined;
  readonly privateKey: KeyObject;
}

const attributeTypes = { CN: '2.5.4.3', O: '2.5.4.10' } as const;
const usageIds = { server: extendedKeyUsages.serverAuth, client: extendedKeyUsages.clientAuth } as const;
const extensionIds = {
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extKeyUsage: '2.5.29.37',
} as const;
/** KeyUsage bits: digitalSignature and keyEncipherment for leaves, keyCertSign for authorities. */
const leafUsage = 0b1010_0000;
const authorityUsage = 0b1010_0100;
/** Size of an uncompressed P-256 point, the last part of the SubjectPublicKeyInfo. */
const pointBytes = 65;

/** The encoded parts of a certificate. */
export interface CertificateParts {
  readonly issuer: Buffer;
  readonly subject: Buffer;
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** SubjectPublicKeyInfo. */
  readonly publicKey: Buffer;
  readonly extensions: readonly Buffer[];
}

/** Returns a signed DER certificate with a random serial number. Throws if the issuer's certificate is invalid. */
export function signCertificate(template: CertificateTemplate, issuer: Issuer): Buffer {
  const subject = distinguishedName(template.subject);
  const issuing = issuer.certificate && parseCertificate(Buffer.from(issuer.certificate));
  const parts = {
    issuer: issuing ? issuing.subject.der : subject,
    subject,
    notBefore: template.notBefore,
    notAfter: template.notAfter,
    publicKey: template.publicKey.export({ type: 'spki', format: 'der' }),
    extensions: extensions(template, issuing?.publicKey.der),
  };
  return signParts(parts, issuer.privateKey);
}

/** Returns a DER certificate of the parts with a random serial number, signed with a P-256 key. */
export function signParts(parts: CertificateParts, privateKey: KeyObject): Buffer {
  const tbs = sequence(
    element(contextTag(0, 'constructed'), integer(2)),
    integer(newSerial()),
    signatureAlgorithm,
    parts.issuer,
    sequence(time(parts.notBefore), time(parts.notAfter)),
    parts.subject,
    parts.publicKey,
    element(contextTag(3, 'constructed'), sequence(...parts.extensions)),
  );
  return sequence(tbs, signatureAlgorithm, bitString(sign('sha256', tbs, privateKey)));
}

/** Encodes the extensions. `issuerKey`: SubjectPublicKeyInfo of the authority; undefined for a self-signed certificate. */
function extensions({ publicKey, isAuthority, usages, names }: CertificateTemplate, issuerKey: Buffer | undefined): Buffer[] {
  const keyUsage = isAuthority ? authorityUsage : leafUsage;
  const unusedBits = 31 - Math.clz32(keyUsage & -keyUsage);
  const all = [
    extension('basicConstraints', isAuthority ? sequence(boolean(true)) : sequence(), true),
    extension('keyUsage', bitString(Uint8Array.of(keyUsage), unusedBits), true),
  ];
  if (isAuthority)
    all.push(extension('subjectKeyIdentifier', octetString(keyIdentifier(publicKey.export({ type: 'spki', format: 'der' })))));
  if (usages.length > 0) all.push(extension('extKeyUsage', sequence(...usages.map((usage) => objectIdentifier(usageIds[usage])))));
  if (issuerKey) all.push(authorityKeyIdentifier(issuerKey));
  if (names.length > 0) all.push(extension('subjectAltName', sequence(...names.map(generalName))));
  return all;
}

/** `issuerKey`: SubjectPublicKeyInfo of the authority, with a P-256 key. */
export function authorityKeyIdentifier(issuerKey: Buffer): Buffer {
  return extension('authorityKeyIdentifier', sequence(element(contextTag(0), keyIdentifier(issuerKey))));
}

export function extension(name: keyof typeof extensionIds, value: Buffer, critical = false): Buffer {
  return sequence(objectIdentifier(extensionIds[name]), ...(critical ? [boolean(true)] : []), octetString(value));
}

function distinguishedName(attributes: readonly NameAttribute[]): Buffer {
  return sequence(...attributes.map(([type, value]) => set(sequence(objectIdentifier(attributeTypes[type]), utf8String(value)))));
}

function generalName(name: string): Buffer {
  const address = parseIPSloppy(name);
  return address ? element(contextTag(7), Uint8Array.from(address.bytes)) : element(contextTag(2), Buffer.from(name, 'ascii'));
}

/** Algorithm identifier of ecdsa-with-SHA256. */
const signatureAlgorithm = sequence(objectIdentifier('1.2.840.10045.4.3.2'));

/** Key identifier by method 1 of RFC 5280, section 4.2.1.2. */
function keyIdentifier(publicKeyInfo: Uint8Array): Uint8Array {
  return createHash('sha1').update(publicKeyInfo.subarray(-pointBytes)).digest();
}

/** Random positive number of 16 bytes. */
function newSerial(): Uint8Array {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] as number) & 0x3f) | 0x40;
  return bytes;
}
