import { readFileSync } from 'node:fs';

/** Reads a generated table of this folder. */
export function readTable<T>(name: 'flags' | 'feature-gates' | 'admission'): T {
  return JSON.parse(readFileSync(new URL(`./${name}.gen.json`, import.meta.url), 'utf8')) as T;
}
