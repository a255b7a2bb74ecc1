import type { Buffer } from 'node:buffer';
import { type Certificate, fingerprintOf, parseCertificate } from './certificate.ts';
import { type PemBlock, pemBlocks } from './pem.ts';

/** Potential issuers, indexed by subject. Upstream: crypto/x509/cert_pool.go. */
export class CertificatePool {
  readonly #bySubject = new Map<string, Certificate[]>();
  readonly #fingerprints = new Set<string>();

  readonly certificates: readonly Certificate[];

  constructor(certificates: readonly Certificate[]) {
    this.certificates = certificates;
    for (const certificate of certificates) {
      const fingerprint = fingerprintOf(certificate);
      if (this.#fingerprints.has(fingerprint)) continue;
      this.#fingerprints.add(fingerprint);
      const subject = keyOf(certificate.subject.der);
      const others = this.#bySubject.get(subject);
      if (others) others.push(certificate);
      else this.#bySubject.set(subject, [certificate]);
    }
  }

  has(certificate: Certificate): boolean {
    return this.#fingerprints.has(fingerprintOf(certificate));
  }

  /** Returns the certificates with the issuer's name; those with a matching key identifier first, those with another one last. */
  possibleIssuers({ issuer, authorityKeyId }: Certificate): readonly Certificate[] {
    const named = this.#bySubject.get(keyOf(issuer.der)) ?? [];
    const rank = ({ subjectKeyId }: Certificate): number => {
      const wanted = authorityKeyId?.toString('hex') ?? '';
      const own = subjectKeyId?.toString('hex') ?? '';
      return wanted === own ? 0 : wanted === '' || own === '' ? 1 : 2;
    };
    return named.length < 2 ? named : named.toSorted((a, b) => rank(a) - rank(b));
  }
}

function keyOf(der: Buffer): string {
  return der.toString('latin1');
}

/** Returns the parsable certificates of a bundle, and the errors of the others. Upstream: crypto/x509/cert_pool.go (AppendCertsFromPEM). */
export function readCertificates(pem: string): { readonly certificates: Certificate[]; readonly problems: string[] } {
  const certificates: Certificate[] = [];
  const problems: string[] = [];
  for (const { bytes } of certificateBlocks(pem)) {
    try {
      certificates.push(parseCertificate(bytes));
    } catch (error) {
      problems.push((error as Error).message);
    }
  }
  return { certificates, problems };
}

function certificateBlocks(pem: string): PemBlock[] {
  return pemBlocks(pem).filter(({ type, hasHeaders }) => type === 'CERTIFICATE' && !hasHeaders);
}

/** Returns the certificates of a bundle. Throws if there is none, or if one is malformed. Upstream: client-go/util/cert (ParseCertsPEM). */
export function parseCertificateBundle(pem: string): Certificate[] {
  const blocks = certificateBlocks(pem);
  if (blocks.length === 0) throw new Error('data does not contain any valid RSA or ECDSA certificates');
  return blocks.map(({ bytes }) => parseCertificate(bytes));
}
