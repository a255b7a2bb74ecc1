import { readFileSync, writeFileSync } from 'node:fs';
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';
import type { ServedResource } from './forms.ts';

const file = new URL('./kube-apiserver.json.br', import.meta.url);

/** The resources of kube-apiserver, and its status for each request, in the order of requestsOf. */
export interface Recorded {
  readonly resources: readonly ServedResource[];
  readonly statuses: readonly number[];
}

export function readRecorded(): Recorded {
  return JSON.parse(brotliDecompressSync(readFileSync(file)).toString()) as Recorded;
}

export function writeRecorded(recorded: Recorded): void {
  writeFileSync(file, brotliCompressSync(JSON.stringify(recorded)));
}
