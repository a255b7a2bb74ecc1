import { Buffer } from 'node:buffer';
import { createHmac, randomBytes } from 'node:crypto';
import { isDNS1123Subdomain } from '#apimachinery/validation/names';
import { openGcm, sealGcm } from '../aes.ts';
import { dekSource, type EncryptedObject } from './messages.ts';

/** Keys of 32 bytes; as many of a value's beginning say which key of the seed is its own. */
const keyBytes = 32;
const keyIdLimit = 1024;
const encryptedKeyLimit = 1024;
const annotationsLimit = 32 * 1024;

/** Encrypts and decrypts values. */
export interface DataKey {
  seal(value: Buffer, context: string): Buffer;
  /** Throws for what was not sealed with the key and the context. */
  open(stored: Buffer, context: string): Buffer;
}

/**
 * A seed of any number of keys: each value begins with random bytes, from which and the seed its key is made (HKDF's expansion with
 * SHA-256), and has AES-GCM's form after them. Throws for a seed that is too short.
 * Upstream: apiserver/pkg/storage/value/encrypt/aes/aes_extended_nonce.go.
 */
export function seedKey(seed: Buffer): DataKey {
  if (seed.length < keyBytes) throw new Error(`invalid seed length ${seed.length} used for key generation`);
  const derived = (info: Buffer): Buffer => createHmac('sha256', seed).update(info).update(Buffer.of(1)).digest();
  return {
    seal(value, context) {
      const info = randomBytes(keyBytes);
      return Buffer.concat([info, sealGcm(derived(info), value, context)]);
    },
    open(stored, context) {
      if (stored.length < keyBytes) throw new Error('the stored data was shorter than the required size');
      return openGcm(derived(stored.subarray(0, keyBytes)), stored.subarray(keyBytes), context);
    },
  };
}

/** The key that stands in what the service decrypted. Throws for one that has not the right length. */
export function dataKeyOf(type: number, key: Buffer): DataKey {
  if (type === dekSource.seed) return seedKey(key);
  if (key.length !== 16 && key.length !== 24 && key.length !== 32) throw new Error(`crypto/aes: invalid key size ${key.length}`);
  return { seal: (value, context) => sealGcm(key, value, context), open: (stored, context) => openGcm(key, stored, context) };
}

/** A new seed. */
export const newSeed = (): Buffer => randomBytes(keyBytes);

/** Throws for an id that a service may not give a key. */
export function validateKeyId(keyId: string): void {
  if (keyId === '') throw new Error('keyID is empty');
  const { length } = Buffer.from(keyId);
  if (length > keyIdLimit) throw new Error(`keyID is ${length} bytes, which exceeds the max size of ${keyIdLimit}`);
}

/** Throws for what cannot be a stored value, or must not become one. */
export function validateEncryptedObject(object: EncryptedObject): void {
  const { encryptedDekSourceType: type, encryptedData, encryptedDekSource: key } = object;
  if (type !== dekSource.aesGcmKey && type !== dekSource.seed) throw new Error(`unknown encryptedDEKSourceType: ${type}`);
  if (encryptedData.length === 0) throw new Error('encrypted data is empty');
  within('failed to validate encrypted DEK source', () => {
    if (key.length === 0) throw new Error('encrypted DEK source is empty');
    if (key.length > encryptedKeyLimit)
      throw new Error(`encrypted DEK source is ${key.length} bytes, which exceeds the max size of ${encryptedKeyLimit}`);
  });
  within('failed to validate key id', () => validateKeyId(object.keyId));
  within('failed to validate annotations', () => validateAnnotations(object.annotations));
}

function validateAnnotations(annotations: EncryptedObject['annotations']): void {
  const size = annotations.reduce((sum, { name, value }) => sum + Buffer.byteLength(name) + value.length, 0);
  const problems = annotations.flatMap(({ name }) => {
    const [found] = isDNS1123Subdomain(name.endsWith('.') ? name.slice(0, -1) : name);
    if (found !== undefined) return `annotations: Invalid value: ${JSON.stringify(name)}: ${found}`;
    return name.includes('.')
      ? []
      : `annotations: Invalid value: ${JSON.stringify(name)}: should be a domain with at least two segments separated by dots`;
  });
  if (size > annotationsLimit) problems.push(`total size of annotations is ${size}, which exceeds the max size of ${annotationsLimit}`);
  if (problems.length > 0) throw new Error(problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`);
}

function within(what: string, check: () => void): void {
  try {
    check();
  } catch (cause) {
    throw new Error(`${what}: ${(cause as Error).message}`, { cause });
  }
}
