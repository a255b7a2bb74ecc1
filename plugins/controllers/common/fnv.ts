/** FNV-1a with 32 bits. Go: hash/fnv.New32a. */
export function fnv32a(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

/** FNV-1a with 128 bits, for short texts. Go: hash/fnv.New128a. */
function fnv128a(bytes: Uint8Array): bigint {
  let hash = 0x6c62272e07bb014262b821756295c58dn;
  for (const byte of bytes) hash = BigInt.asUintN(128, (hash ^ BigInt(byte)) * 0x1000000000000000000013bn);
  return hash;
}

/** Returns the items in the order of the hashes of their dumps, in which upstream's controllers of endpoints write ports. */
export function inHashOrder<T>(items: readonly T[], dump: (item: T) => string): T[] {
  if (items.length < 2) return [...items];
  const hashed = items.map((item) => ({ item, hash: fnv128a(Buffer.from(dump(item))) }));
  return hashed.sort((a, b) => (a.hash < b.hash ? -1 : 1)).map(({ item }) => item);
}
