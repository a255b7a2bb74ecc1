import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Table = Record<string, Json>;

/** Reads a file of the facts; the segments of `path` are joined. */
export function read(...path: string[]): Table {
  return JSON.parse(readFileSync(join(...path), 'utf8'));
}
