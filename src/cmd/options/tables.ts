import { readFileSync } from 'node:fs';

/** One of the generated tables of this folder. */
export function readTable<T>(name: 'flags' | 'feature-gates' | 'admission'): T {
  return JSON.parse(readFileSync(new URL(`./${name}.gen.json`, import.meta.url), 'utf8')) as T;
}
