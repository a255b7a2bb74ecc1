import { Buffer } from 'node:buffer';
import { createHmac, randomBytes } from 'node:crypto';
import { isDNS1123Subdomain } from '#apimachinery/validation/names';
import { openGcm, sealGcm } from '../aes.ts';
import { dekSource, type EncryptedObject } from './messages.ts';

/** Key size in bytes. A value starts with the same number of bytes, which select its key among those derived from the seed. */
const keyBytes = 32;
const keyIdLimit = 1024;
const encryptedKeyLimit = 1024;
const annotationsLimit = 32 * 1024;

/** Encrypts and decrypts values. */
export interface DataKey {
  seal(value: Buffer, context: string): Buffer;
  /** Decrypts a value. Throws if it was sealed with another key or context. */
  open(stored: Buffer, context: string): Buffer;
}

/**
 * A key derived from a seed: each value starts with random bytes, from which the seed derives the value's own key
 * (HKDF-Expand with SHA-256), followed by the AES-GCM form. Throws if the seed is too short. Upstream:
 * apiserver/pkg/storage/value/encrypt/aes/aes_extended_nonce.go.
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

/** Returns the data key for a key or seed that the service decrypted. Throws if its length is wrong. */
export function dataKeyOf(type: number, key: Buffer): DataKey {
  if (type === dekSource.seed) return seedKey(key);
  if (key.length !== 16 && key.length !== 24 && key.length !== 32) throw new Error(`crypto/aes: invalid key size ${key.length}`);
  return { seal: (value, context) => sealGcm(key, value, context), open: (stored, context) => openGcm(key, stored, context) };
}

/** Generates a seed. */
export const newSeed = (): Buffer => randomBytes(keyBytes);

/** Throws if the key id is invalid. */
export function validateKeyId(keyId: string): void {
  if (keyId === '') throw new Error('keyID is empty');
  const { length } = Buffer.from(keyId);
  if (length > keyIdLimit) throw new Error(`keyID is ${length} bytes, which exceeds the max size of ${keyIdLimit}`);
}

/** Throws if the object is not a valid stored value. */
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
