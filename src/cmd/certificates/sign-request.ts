import { Buffer } from 'node:buffer';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { parseCertificate } from '#apimachinery/x509/certificate';
import { type CertificateRequest, parsePemCertificateRequest, requestSignatureProblem } from '#apimachinery/x509/certificate-request';
import { tags } from '#apimachinery/x509/der-reader';
import { bitString, element, objectIdentifier, sequence, set } from '#apimachinery/x509/der-writer';
import type { DistinguishedName } from '#apimachinery/x509/distinguished-name';
import { generalNameTags } from '#apimachinery/x509/general-names';
import type { CertificateToSign } from '#apiserver/controllers/cluster-credentials';
import { authorityKeyIdentifier, extension, signParts } from './certificate-der.ts';
import type { KeyPair } from './issue.ts';

/** Bits of the extension KeyUsage, by usage of certificates.k8s.io/v1. */
const keyUsageBits: Readonly<Record<string, number>> = {
  signing: 0x8000,
  'digital signature': 0x8000,
  'content commitment': 0x4000,
  'key encipherment': 0x2000,
  'data encipherment': 0x1000,
  'key agreement': 0x0800,
  'cert sign': 0x0400,
  'crl sign': 0x0200,
  'encipher only': 0x0100,
  'decipher only': 0x0080,
};

/** Object identifiers of the extension ExtKeyUsage, by usage, in upstream's order. */
const extendedUsageIds: Readonly<Record<string, string>> = {
  any: '2.5.29.37.0',
  'server auth': '1.3.6.1.5.5.7.3.1',
  'client auth': '1.3.6.1.5.5.7.3.2',
  'code signing': '1.3.6.1.5.5.7.3.3',
  'email protection': '1.3.6.1.5.5.7.3.4',
  's/mime': '1.3.6.1.5.5.7.3.4',
  'ipsec end system': '1.3.6.1.5.5.7.3.5',
  'ipsec tunnel': '1.3.6.1.5.5.7.3.6',
  'ipsec user': '1.3.6.1.5.5.7.3.7',
  timestamping: '1.3.6.1.5.5.7.3.8',
  'ocsp signing': '1.3.6.1.5.5.7.3.9',
  'microsoft sgc': '1.3.6.1.4.1.311.10.3.3',
  'netscape sgc': '2.16.840.1.113730.4.1',
};

/**
 * Signs a request with an authority and returns the certificate in PEM. Subject, key and alternative names are those of the request; its
 * other extensions are dropped. Throws if the signature of the request is invalid, or the authority has expired. Upstream:
 * pkg/controller/certificates/authority.
 */
export function signRequest({ request: pem, usages, notBefore, notAfter }: CertificateToSign, authority: KeyPair): string {
  const request = parsePemCertificateRequest(pem);
  const problem = requestSignatureProblem(request);
  if (problem !== undefined) throw new Error(`unable to verify certificate request signature: ${problem}`);
  const unknown = usages.find((usage) => !Object.hasOwn(keyUsageBits, usage) && !Object.hasOwn(extendedUsageIds, usage));
  if (unknown !== undefined) throw new Error(`unrecognized usage values: ["${unknown}"]`);
  const privateKey = createPrivateKey(authority.key);
  if (privateKey.asymmetricKeyDetails?.namedCurve !== 'prime256v1') throw new Error('the key of the authority is not a P-256 key');
  const parsed = new X509Certificate(authority.cert);
  if (parsed.validToDate <= new Date()) throw new Error(`the signer has expired: NotAfter=${parsed.validTo}`);
  const issuing = parseCertificate(parsed.raw);
  const parts = {
    issuer: issuing.subject.der,
    subject: signedSubject(request.subject),
    notBefore,
    notAfter: notAfter < parsed.validToDate ? notAfter : parsed.validToDate,
    publicKey: request.publicKey.der,
    extensions: [
      ...usageExtensions(usages),
      extension('basicConstraints', sequence(), true),
      authorityKeyIdentifier(issuing.publicKey.der),
    ],
  };
  const names = alternativeNames(request);
  if (names.length > 0) {
    const isSubjectEmpty = request.subject.attributes.length === 0;
    parts.extensions.push(extension('subjectAltName', sequence(...names), isSubjectEmpty));
  }
  return new X509Certificate(signParts(parts, privateKey)).toString();
}

/**
 * Attributes of a subject in the order in which Go writes them: country, organization, unit, locality, province, street, postal code, and
 * two that have a single value. Upstream: crypto/x509/pkix (ToRDNSequence), as the subject of the request is parsed and written again.
 */
const subjectAttributes = ['2.5.4.6', '2.5.4.10', '2.5.4.11', '2.5.4.7', '2.5.4.8', '2.5.4.9', '2.5.4.17'];
const singleAttributes = ['2.5.4.3', '2.5.4.5'];

/** Values of one type are one set; attributes of other types are dropped. */
function signedSubject(subject: DistinguishedName): Buffer {
  const setOf = (type: string, values: readonly string[]): Buffer[] =>
    values.length === 0
      ? []
      : [set(...values.map((value) => sequence(objectIdentifier(type), directoryString(value))).sort(Buffer.compare))];
  return sequence(
    ...subjectAttributes.flatMap((type) => setOf(type, subject.values(type))),
    ...singleAttributes.flatMap((type) => setOf(type, subject.values(type).slice(-1).filter(Boolean))),
  );
}

function directoryString(value: string): Buffer {
  const isPrintable = /^[a-zA-Z0-9'()+,\-./ :=?]*$/.test(value);
  return element(isPrintable ? tags.printableString : tags.utf8String, Buffer.from(value, 'utf8'));
}

function usageExtensions(usages: readonly string[]): Buffer[] {
  const bits = usages.reduce((all, usage) => all | (keyUsageBits[usage] ?? 0), 0);
  const ids = new Set(Object.entries(extendedUsageIds).flatMap(([usage, id]) => (usages.includes(usage) ? [id] : [])));
  const all: Buffer[] = [];
  if (bits !== 0) {
    const bytes = (bits & 0xff) === 0 ? Uint8Array.of(bits >> 8) : Uint8Array.of(bits >> 8, bits & 0xff);
    const last = bytes.at(-1) as number;
    all.push(extension('keyUsage', bitString(bytes, 31 - Math.clz32(last & -last)), true));
  }
  if (ids.size > 0) all.push(extension('extKeyUsage', sequence(...[...ids].map((id) => objectIdentifier(id)))));
  return all;
}

function alternativeNames({ alternativeNames: { dns, emails, addresses, uris } }: CertificateRequest): Buffer[] {
  return [
    ...dns.map((name) => element(generalNameTags.dns, Buffer.from(name, 'latin1'))),
    ...emails.map((name) => element(generalNameTags.email, Buffer.from(name, 'latin1'))),
    ...addresses.map((address) => element(generalNameTags.address, address)),
    ...uris.map(({ text }) => element(generalNameTags.uri, Buffer.from(text, 'latin1'))),
  ];
}
