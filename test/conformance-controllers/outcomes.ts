import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Outcome } from './normalise.ts';

export type Outcomes = Readonly<Record<string, Outcome>>;

const fileOf = (area: string): URL => new URL(`./recorded/${area}.expected.json`, import.meta.url);

/** Returns the recorded outcomes of an area by the names of their scenarios. */
export function readOutcomes(area: string): Outcomes {
  return existsSync(fileOf(area)) ? (JSON.parse(readFileSync(fileOf(area), 'utf8')) as Outcomes) : {};
}

export function writeOutcomes(area: string, outcomes: Outcomes): void {
  const sorted = Object.fromEntries(Object.entries(outcomes).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(fileOf(area), `${JSON.stringify(sorted, undefined, 1)}\n`);
}
