import { readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestCluster, type TestCluster } from '#testing/index';
import { flags } from './flags.ts';
import { createSamples, type Listed, makeTable, type Table } from './table.ts';

const expected = JSON.parse(brotliDecompressSync(readFileSync(new URL('./kube-apiserver.json.br', import.meta.url))).toString()) as Table;

let cluster: TestCluster;
let table: Table;
beforeAll(async () => {
  cluster = await startTestCluster({ flags });
  const ask = async (path: string, { contentType = 'application/json', ...options }: { contentType?: string } = {}): Promise<Listed> => {
    const response = await cluster.fetch(path, { ...options, headers: { 'content-type': contentType } });
    const text = await response.text();
    // A path that is not served yet has a non-JSON response.
    return { status: response.status, body: text.startsWith('{') ? (JSON.parse(text) as Listed['body']) : { message: text } };
  };
  await createSamples(ask);
  table = await makeTable(ask);
}, 120_000);
afterAll(() => cluster[Symbol.asyncDispose]());

describe('lists with field selectors equal those of kube-apiserver v1.36.3', () => {
  it('covers the same resources', () => {
    expect(Object.keys(table).sort()).toEqual(Object.keys(expected).sort());
  });

  it.each(Object.keys(expected))('%s', (resource) => {
    expect(table[resource]).toEqual(expected[resource]);
  });
});
