import { Buffer } from 'node:buffer';
import { fnv128a } from '#sdk/internal';

/** Returns the items in the order of the hashes of their dumps, in which upstream's controllers of endpoints write ports. */
export function inHashOrder<T>(items: readonly T[], dump: (item: T) => string): T[] {
  if (items.length < 2) return [...items];
  const hashed = items.map((item) => ({ item, hash: fnv128a(Buffer.from(dump(item))) }));
  return hashed.sort((a, b) => (a.hash < b.hash ? -1 : 1)).map(({ item }) => item);
}
