import type { Buffer } from 'node:buffer';
import { createPublicKey, type KeyObject } from 'node:crypto';
import { publicKeyAlgorithm } from './certificate-request.ts';

/** Elliptic curves that Go knows, by OpenSSL's names. */
const curves: ReadonlyMap<string, string> = new Map([
  ['secp224r1', 'P-224'],
  ['prime256v1', 'P-256'],
  ['secp384r1', 'P-384'],
  ['secp521r1', 'P-521'],
]);
/** Algorithms of public keys that Go reads, by their object identifiers (hex): RSA, ECDSA, Ed25519, DSA, X25519. */
const readable: ReadonlySet<string> = new Set(['2a864886f70d010101', '2a8648ce3d0201', '2b6570', '2a8648ce380401', '2b656e']);

/** Reads a key (SubjectPublicKeyInfo in DER); `unknown` for one of an algorithm that Go does not read, undefined for what is no key. */
export function parsePublicKey(der: Buffer): KeyObject | 'unknown' | undefined {
  try {
    if (!readable.has(publicKeyAlgorithm(der))) return 'unknown';
    const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
    return key.asymmetricKeyType === 'ec' && curveOf(key) === undefined ? undefined : key;
  } catch {
    return undefined;
  }
}

function curveOf({ asymmetricKeyDetails }: KeyObject): string | undefined {
  return curves.get(asymmetricKeyDetails?.namedCurve ?? '');
}

/** Why a pod's certificate is not made for such a key: undefined for Ed25519, RSA of 3072 and 4096 bits, and three curves. */
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
