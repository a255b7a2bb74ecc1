/**
 * Records kube-apiserver's responses to lists with field selectors:
 *     node --conditions=kubenest-source --experimental-transform-types test/field-selectors/record.ts
 */
import { writeFileSync } from 'node:fs';
import { brotliCompressSync } from 'node:zlib';
import { startEtcd } from '../servers/etcd-server.ts';
import { startKubeApiserver } from '../servers/kube-apiserver.ts';
import { type Ask, createSamples, makeTable } from './table.ts';
import { flags } from './flags.ts';

await using etcd = await startEtcd();
await using server = await startKubeApiserver(etcd.url, flags);
const ask = ((path, options) => server.fetch(path, options)) as Ask;
await createSamples(ask);
const table = await makeTable(ask);
writeFileSync(new URL('./kube-apiserver.json.br', import.meta.url), brotliCompressSync(JSON.stringify(table)));
console.log(`${Object.keys(table).length} resources, ${Object.values(table).reduce((sum, row) => sum + Object.keys(row).length, 0)} lists`);
