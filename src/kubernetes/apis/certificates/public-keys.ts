import type { Buffer } from 'node:buffer';
import type { KeyObject } from 'node:crypto';
import { type CertificateRequest, parseCertificateRequest } from '#apimachinery/x509/certificate-request';
import { DerReader, tags } from '#apimachinery/x509/der-reader';
import { parsePublicKeyInfo } from '#apimachinery/x509/public-key';

/** Elliptic curves that Go supports, by OpenSSL's names. */
const curves: ReadonlyMap<string, string> = new Map([
  ['secp224r1', 'P-224'],
  ['prime256v1', 'P-256'],
  ['secp384r1', 'P-384'],
  ['secp521r1', 'P-521'],
]);
/**
 * Parses a public key (SubjectPublicKeyInfo in DER). Returns `unknown` for an algorithm that Go does not support, undefined for malformed
 * input.
 */
export function parsePublicKey(der: Buffer): KeyObject | 'unknown' | undefined {
  try {
    const reader = new DerReader(der);
    const { key } = parsePublicKeyInfo(reader.element('x509: malformed public key', tags.sequence));
    reader.end('x509: trailing data after ASN.1 of public-key');
    return key ?? 'unknown';
  } catch {
    return undefined;
  }
}

/** Parses a PKCS#10 request in DER. Returns undefined for malformed input. */
export function readCertificateRequest(der: Buffer): CertificateRequest | undefined {
  try {
    return parseCertificateRequest(der);
  } catch {
    return undefined;
  }
}

function curveOf({ asymmetricKeyDetails }: KeyObject): string | undefined {
  return curves.get(asymmetricKeyDetails?.namedCurve ?? '');
}

/** Returns the reason why pod certificates do not support the key; undefined for Ed25519, RSA of 3072 and 4096 bits, and three curves. */
export function keyProblem(key: KeyObject): { readonly kind: 'curve' | 'modulus' | 'type'; readonly shown: string } | undefined {
  switch (key.asymmetricKeyType) {
    case 'ed25519':
      return undefined;
    case 'ec': {
      const curve = curveOf(key) ?? '';
      return curve === 'P-224' ? { kind: 'curve', shown: `curve ${curve}` } : undefined;
    }
    case 'rsa': {
      const bits = Math.ceil((key.asymmetricKeyDetails?.modulusLength ?? 0) / 8) * 8;
      return bits === 3072 || bits === 4096 ? undefined : { kind: 'modulus', shown: `${bits}-bit modulus` };
    }
    default:
      return { kind: 'type', shown: '' };
  }
}
