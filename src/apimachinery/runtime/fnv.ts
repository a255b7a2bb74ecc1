/** Hashes of Fowler, Noll and Vo, with the names of Go's hash/fnv. */
import { Buffer } from 'node:buffer';

const offset32 = 0x811c9dc5;
const prime32 = 0x01000193;
const offset64 = 0xcbf29ce484222325n;
const prime64 = 0x100000001b3n;
const offset128 = 0x6c62272e07bb014262b821756295c58dn;
const prime128 = 0x1000000000000000000013bn;

export function fnv32(bytes: Uint8Array): number {
  let hash = offset32;
  for (const byte of bytes) hash = Math.imul(hash, prime32) ^ byte;
  return hash >>> 0;
}

export function fnv32a(bytes: Uint8Array): number {
  let hash = offset32;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, prime32);
  return hash >>> 0;
}

export function fnv64(bytes: Uint8Array): bigint {
  let hash = offset64;
  for (const byte of bytes) hash = BigInt.asUintN(64, hash * prime64) ^ BigInt(byte);
  return hash;
}

/** Returns the hash of a text in UTF-8. It is computed in halves of 32 bits, since lists and watches hash each object. */
export function fnv64a(text: string): bigint {
  let high = Number(offset64 >> 32n);
  let low = Number(offset64 & 0xffffffffn);
  for (const byte of Buffer.from(text)) {
    low = (low ^ byte) >>> 0;
    // The prime is 2^40 + 0x1b3.
    const product = low * 0x1b3;
    high = (Math.imul(high, 0x1b3) + Math.floor(product / 2 ** 32) + (low << 8)) >>> 0;
    low = product >>> 0;
  }
  return (BigInt(high) << 32n) | BigInt(low);
}

/** Suitable for short texts. */
export function fnv128a(bytes: Uint8Array): bigint {
  let hash = offset128;
  for (const byte of bytes) hash = BigInt.asUintN(128, (hash ^ BigInt(byte)) * prime128);
  return hash;
}
