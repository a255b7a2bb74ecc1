import { createHash, createPublicKey, type KeyObject } from 'node:crypto';

const ecAlgorithms: Readonly<Record<string, string>> = { prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512' };

/**
 * Returns the public keys of a PEM text that contains public keys, private keys or certificates. Throws if there is none. Upstream:
 * client-go/util/keyutil.
 */
export function publicKeysOf(pem: string): KeyObject[] {
  const blocks = [...pem.matchAll(/-----BEGIN ([A-Z ]+)-----[\s\S]+?-----END \1-----/g)].filter(([, type]) => type !== 'EC PARAMETERS');
  if (blocks.length === 0) throw new Error('data does not contain any valid RSA or ECDSA public keys');
  return blocks.map(([block]) => createPublicKey(block));
}

/** Returns the key ID: a hash of the public key. Upstream: kubernetes/pkg/serviceaccount/jwt.go. */
export function keyIdOf(publicKey: KeyObject): string {
  return createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('base64url');
}

/** Returns the signing algorithm of a key: RS256, or ES256, ES384 or ES512 by its curve. Throws for other keys. */
export function signingAlgorithmOf(key: KeyObject): string {
  if (key.asymmetricKeyType === 'rsa') return 'RS256';
  const algorithm = key.asymmetricKeyType === 'ec' ? ecAlgorithms[key.asymmetricKeyDetails?.namedCurve ?? ''] : undefined;
  if (!algorithm) throw new Error('the keys of service account tokens must be RSA, or EC on P-256, P-384 or P-521');
  return algorithm;
}
