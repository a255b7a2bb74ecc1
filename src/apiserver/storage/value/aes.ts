import { Buffer } from 'node:buffer';
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { keyFingerprint, type Transformer } from './transformer.ts';

const nonceBytes = 12;
const tagBytes = 16;
const blockBytes = 16;

/**
 * AES-GCM with a random nonce. The storage key is authenticated, so a value cannot be moved to another key. Replace an
 * encryption key after 200,000 writes. Upstream: apiserver/pkg/storage/value/encrypt/aes/aes.go.
 */
export function aesGcm(name: string, key: Buffer): Transformer {
  const keyId = keyFingerprint(key);
  return {
    prefix: `k8s:enc:aesgcm:v1:${name}:`,
    keyId,
    toStorage: (value, context) => sealGcm(key, value, context),
    fromStorage: (stored, context) => ({ value: openGcm(key, stored, context), keyId }),
  };
}

/** Returns nonce, ciphertext and tag, concatenated. `context` is authenticated. */
export function sealGcm(key: Buffer, value: Buffer, context: string): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(gcmOf(key), key, nonce).setAAD(Buffer.from(context));
  return Buffer.concat([nonce, cipher.update(value), cipher.final(), cipher.getAuthTag()]);
}

/** Decrypts the output of `sealGcm`. Throws if it was sealed with another key or context. */
export function openGcm(key: Buffer, stored: Buffer, context: string): Buffer {
  if (stored.length < nonceBytes + tagBytes) throw new Error('the stored data was shorter than the required size');
  const decipher = createDecipheriv(gcmOf(key), key, stored.subarray(0, nonceBytes));
  decipher.setAAD(Buffer.from(context)).setAuthTag(stored.subarray(stored.length - tagBytes));
  return Buffer.concat([decipher.update(stored.subarray(nonceBytes, stored.length - tagBytes)), decipher.final()]);
}

/** Throws if the key has another length. */
function gcmOf(key: Buffer): 'aes-256-gcm' {
  return `aes-${key.length * 8}-gcm` as 'aes-256-gcm';
}

/** AES-CBC with a random initialization vector and PKCS #7 padding, without authentication. Upstream: the same file. */
export function aesCbc(name: string, key: Buffer): Transformer {
  const algorithm = `aes-${key.length * 8}-cbc`;
  const keyId = keyFingerprint(key);
  return {
    prefix: `k8s:enc:aescbc:v1:${name}:`,
    keyId,
    toStorage(value) {
      const start = randomBytes(blockBytes);
      const cipher = createCipheriv(algorithm, key, start);
      return Buffer.concat([start, cipher.update(value), cipher.final()]);
    },
    fromStorage(stored) {
      if (stored.length < 2 * blockBytes || stored.length % blockBytes !== 0)
        throw new Error('the stored data is not a multiple of the block size');
      const decipher = createDecipheriv(algorithm, key, stored.subarray(0, blockBytes));
      return { value: Buffer.concat([decipher.update(stored.subarray(blockBytes)), decipher.final()]), keyId };
    },
  };
}
