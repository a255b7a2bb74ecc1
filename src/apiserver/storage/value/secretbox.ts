import { Buffer } from 'node:buffer';
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { keyFingerprint, type Transformer } from './transformer.ts';

const nonceBytes = 24;
const tagBytes = 16;
const keyBytes = 32;
const blockBytes = 64;
const rounds = 20;
const sigma = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574] as const;
const prime = (1n << 130n) - 5n;
const clamp = 0x0ffffffc0ffffffc0ffffffc0fffffffn;

/**
 * XSalsa20 and Poly1305 as NaCl's secretbox: nonce, tag and ciphertext. Upstream:
 * apiserver/pkg/storage/value/encrypt/secretbox.
 */
export function secretbox(name: string, key: Buffer): Transformer {
  const keyId = keyFingerprint(key);
  return {
    prefix: `k8s:enc:secretbox:v1:${name}:`,
    keyId,
    toStorage(value) {
      const nonce = randomBytes(nonceBytes);
      return Buffer.concat([nonce, seal(value, nonce, key)]);
    },
    fromStorage: (stored) => ({ value: open(stored, key), keyId }),
  };
}

/** Returns tag and ciphertext. */
export function seal(value: Buffer, nonce: Buffer, key: Buffer): Buffer {
  const stream = keyStream(keyBytes + value.length, nonce, key);
  const text = exclusiveOr(value, stream.subarray(keyBytes));
  return Buffer.concat([poly1305(text, stream.subarray(0, keyBytes)), text]);
}

function open(stored: Buffer, key: Buffer): Buffer {
  if (stored.length < nonceBytes + tagBytes) throw new Error('the stored data was shorter than the required size');
  const text = stored.subarray(nonceBytes + tagBytes);
  const stream = keyStream(keyBytes + text.length, stored.subarray(0, nonceBytes), key);
  if (!timingSafeEqual(poly1305(text, stream.subarray(0, keyBytes)), stored.subarray(nonceBytes, nonceBytes + tagBytes)))
    throw new Error('the stored data was changed, or written with another key');
  return exclusiveOr(text, stream.subarray(keyBytes));
}

function exclusiveOr(a: Buffer, b: Buffer): Buffer {
  const out = Buffer.allocUnsafeSlow(a.length);
  for (let i = 0; i < a.length; i += 1) out[i] = (a[i] as number) ^ (b[i] as number);
  return out;
}

/** Returns the XSalsa20 key stream: derives a key from the first 16 bytes of the nonce, then runs Salsa20 with the last 8. */
function keyStream(length: number, nonce: Buffer, key: Buffer): Buffer {
  const mixed = salsa(wordsOf(key), wordsOf(nonce.subarray(0, 16)));
  // HSalsa20 keeps the words of the diagonal and of the nonce, without adding the input.
  const derived = [0, 5, 10, 15, 6, 7, 8, 9].map((at) => mixed[at] as number);
  const out = Buffer.alloc(Math.ceil(length / blockBytes) * blockBytes);
  const tail = wordsOf(nonce.subarray(16));
  for (let block = 0; block * blockBytes < length; block += 1) {
    const input = [...tail, block >>> 0, Math.floor(block / 2 ** 32)];
    const mixedBlock = salsa(derived, input);
    const initial = initialState(derived, input);
    for (let i = 0; i < 16; i += 1)
      out.writeUInt32LE(((mixedBlock[i] as number) + (initial[i] as number)) >>> 0, block * blockBytes + i * 4);
  }
  return out.subarray(0, length);
}

function initialState(key: readonly number[], input: readonly number[]): Uint32Array {
  const [k0 = 0, k1 = 0, k2 = 0, k3 = 0, k4 = 0, k5 = 0, k6 = 0, k7 = 0] = key;
  const [n0 = 0, n1 = 0, n2 = 0, n3 = 0] = input;
  return new Uint32Array([sigma[0], k0, k1, k2, k3, sigma[1], n0, n1, n2, n3, sigma[2], k4, k5, k6, k7, sigma[3]]);
}

/** Salsa20's rounds, without the final addition. */
function salsa(key: readonly number[], input: readonly number[]): Uint32Array {
  const x = initialState(key, input);
  const step = (to: number, a: number, b: number, bits: number): void => {
    const sum = ((x[a] as number) + (x[b] as number)) >>> 0;
    x[to] = (x[to] as number) ^ ((sum << bits) | (sum >>> (32 - bits)));
  };
  const quarter = (a: number, b: number, c: number, d: number): void => {
    step(b, a, d, 7);
    step(c, b, a, 9);
    step(d, c, b, 13);
    step(a, d, c, 18);
  };
  for (let round = 0; round < rounds; round += 2) {
    quarter(0, 4, 8, 12);
    quarter(5, 9, 13, 1);
    quarter(10, 14, 2, 6);
    quarter(15, 3, 7, 11);
    quarter(0, 1, 2, 3);
    quarter(5, 6, 7, 4);
    quarter(10, 11, 8, 9);
    quarter(15, 12, 13, 14);
  }
  return x;
}

function wordsOf(bytes: Buffer): number[] {
  return Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readUInt32LE(i * 4));
}

function poly1305(message: Buffer, oneTimeKey: Buffer): Buffer {
  const r = littleEndian(oneTimeKey.subarray(0, 16)) & clamp;
  const s = littleEndian(oneTimeKey.subarray(16));
  let sum = 0n;
  for (let at = 0; at < message.length; at += 16) {
    const block = message.subarray(at, at + 16);
    sum = ((sum + littleEndian(block) + (1n << BigInt(block.length * 8))) * r) % prime;
  }
  const tag = Buffer.from(((sum + s) & ((1n << 128n) - 1n)).toString(16).padStart(32, '0'), 'hex');
  return tag.reverse();
}

function littleEndian(bytes: Buffer): bigint {
  return bytes.length === 0 ? 0n : BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
}
