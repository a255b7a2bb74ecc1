import { createHash, type KeyObject, randomBytes, sign } from 'node:crypto';
import {
  type AsnType,
  BitString,
  Boolean as AsnBoolean,
  Constructed,
  fromBER,
  GeneralizedTime,
  Integer,
  ObjectIdentifier,
  OctetString,
  Primitive,
  Sequence,
  Set as AsnSet,
  UTCTime,
  Utf8String,
} from 'asn1js';
import { parseIPSloppy } from '#apimachinery/validation/ip';

/*
 * Certificates as RFC 5280 has them, of P-256 keys, put together with an encoder of ASN.1. A library of X.509 that can read and
 * write everything takes a tenth of the server's start to load and to fill.
 */

/** What one part of a name is: its type as in RFC 4514, and the value. */
export type NameAttribute = readonly [type: 'CN' | 'O', value: string];

export interface CertificateTemplate {
  readonly subject: readonly NameAttribute[];
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly publicKey: KeyObject;
  /** It may sign others. */
  readonly isAuthority: boolean;
  /** For what it is good, if that is limited. */
  readonly usages: readonly ('server' | 'client')[];
  /** DNS names and IP addresses. */
  readonly names: readonly string[];
}

/** Who signs. */
export interface Issuer {
  /** Its certificate, DER; undefined where it signs itself. */
  readonly certificate: Uint8Array | undefined;
  readonly privateKey: KeyObject;
}

const attributeTypes = { CN: '2.5.4.3', O: '2.5.4.10' } as const;
const usageIds = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2' } as const;
const extensionIds = {
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extKeyUsage: '2.5.29.37',
} as const;
/** Bits of KeyUsage: digitalSignature and keyEncipherment, and keyCertSign. */
const leafUsage = 0b1010_0000;
const authorityUsage = 0b1010_0100;
/** From then on times have four digits for the year. */
const firstGeneralizedYear = 2050;
/** The class of ASN.1 tags that mean something in their place alone. */
const contextSpecific = 3;
/** The point of a P-256 key, uncompressed, is the end of its SubjectPublicKeyInfo. */
const pointBytes = 65;

/** A signed certificate, DER, with a random serial number. Throws if the issuer's certificate is none. */
export function signCertificate(template: CertificateTemplate, issuer: Issuer): Buffer {
  const subject = distinguishedName(template.subject);
  const issuing = issuer.certificate && read(issuer.certificate);
  const tbs = new Sequence({
    value: [
      tagged(0, [new Integer({ value: 2 })]),
      new Integer({ valueHex: newSerial() }),
      signatureAlgorithm(),
      issuing ? subjectOf(issuing) : subject,
      new Sequence({ value: [time(template.notBefore), time(template.notAfter)] }),
      subject,
      read(template.publicKey.export({ type: 'spki', format: 'der' })),
      tagged(3, [new Sequence({ value: extensions(template, issuing) })]),
    ],
  });
  const signature = sign('sha256', Buffer.from(tbs.toBER()), issuer.privateKey);
  return Buffer.from(new Sequence({ value: [tbs, signatureAlgorithm(), new BitString({ valueHex: signature })] }).toBER());
}

function extensions({ publicKey, isAuthority, usages, names }: CertificateTemplate, issuing: Sequence | undefined): Sequence[] {
  const keyUsage = isAuthority ? authorityUsage : leafUsage;
  const unusedBits = 31 - Math.clz32(keyUsage & -keyUsage);
  const all = [
    extension('basicConstraints', new Sequence({ value: isAuthority ? [new AsnBoolean({ value: true })] : [] }), true),
    extension('keyUsage', new BitString({ valueHex: Uint8Array.of(keyUsage), unusedBits }), true),
  ];
  if (isAuthority)
    all.push(
      extension('subjectKeyIdentifier', new OctetString({ valueHex: keyIdentifier(publicKey.export({ type: 'spki', format: 'der' })) })),
    );
  if (usages.length > 0)
    all.push(extension('extKeyUsage', new Sequence({ value: usages.map((usage) => new ObjectIdentifier({ value: usageIds[usage] })) })));
  if (issuing) {
    const identifier = keyIdentifier(new Uint8Array(publicKeyOf(issuing).toBER()));
    all.push(extension('authorityKeyIdentifier', new Sequence({ value: [primitive(0, identifier)] })));
  }
  if (names.length > 0) all.push(extension('subjectAltName', new Sequence({ value: names.map(generalName) })));
  return all;
}

function extension(name: keyof typeof extensionIds, value: AsnType, critical = false): Sequence {
  return new Sequence({
    value: [
      new ObjectIdentifier({ value: extensionIds[name] }),
      ...(critical ? [new AsnBoolean({ value: true })] : []),
      new OctetString({ valueHex: value.toBER() }),
    ],
  });
}

function distinguishedName(attributes: readonly NameAttribute[]): Sequence {
  const parts = attributes.map(([type, value]) => [new ObjectIdentifier({ value: attributeTypes[type] }), new Utf8String({ value })]);
  return new Sequence({ value: parts.map((value) => new AsnSet({ value: [new Sequence({ value })] })) });
}

function generalName(name: string): Primitive {
  const address = parseIPSloppy(name);
  return address ? primitive(7, Uint8Array.from(address.bytes)) : primitive(2, Buffer.from(name, 'ascii'));
}

function time(date: Date): AsnType {
  return date.getUTCFullYear() < firstGeneralizedYear ? new UTCTime({ valueDate: date }) : new GeneralizedTime({ valueDate: date });
}

/** ecdsa-with-SHA256. */
function signatureAlgorithm(): Sequence {
  return new Sequence({ value: [new ObjectIdentifier({ value: '1.2.840.10045.4.3.2' })] });
}

function tagged(tagNumber: number, value: AsnType[]): Constructed {
  return new Constructed({ idBlock: { tagClass: contextSpecific, tagNumber }, value });
}

function primitive(tagNumber: number, valueHex: Uint8Array): Primitive {
  return new Primitive({ idBlock: { tagClass: contextSpecific, tagNumber }, valueHex });
}

function subjectOf(certificate: Sequence): AsnType {
  return part(certificate, 4);
}

function publicKeyOf(certificate: Sequence): AsnType {
  return part(certificate, 5);
}

/** A field of TBSCertificate, counted without the version, which those of version 1 do not have. */
function part(certificate: Sequence, index: number): AsnType {
  const [tbs] = certificate.valueBlock.value as [Sequence];
  const [first] = tbs.valueBlock.value;
  const hasVersion = first?.idBlock.tagClass === contextSpecific;
  return tbs.valueBlock.value[hasVersion ? index + 1 : index] as AsnType;
}

function read(der: Uint8Array): Sequence {
  const { offset, result } = fromBER(der);
  if (offset < 0) throw new Error(`not DER: ${result.error}`);
  return result as Sequence;
}

/** Method 1 of RFC 5280, section 4.2.1.2. */
function keyIdentifier(publicKeyInfo: Uint8Array): Uint8Array {
  return createHash('sha1').update(publicKeyInfo.subarray(-pointBytes)).digest();
}

/** Positive, 16 bytes. */
function newSerial(): Uint8Array {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] as number) & 0x3f) | 0x40;
  return bytes;
}
