import { randomUUID } from 'node:crypto';

/** Alphabet without vowels and easily confused characters. Upstream: apiserver/pkg/storage/names/generate.go. */
const nameAlphabet = 'bcdfghjklmnpqrstvwxz2456789';
const maxGeneratedBase = 58;

/** Returns the base with five random characters appended. */
export function generateName(base: string): string {
  let name = base.slice(0, maxGeneratedBase);
  const random = randomUUID().replaceAll('-', '');
  for (let at = 0; at < 5; at += 1) name += nameAlphabet[Number.parseInt(random.slice(at * 4, at * 4 + 4), 16) % nameAlphabet.length];
  return name;
}
