/**
 * Records digests of kube-apiserver's responses to unusual values of fields:
 *     node --conditions=kubenest-source --experimental-transform-types test/field-values/record.ts
 */
import { writeFileSync } from 'node:fs';
import { brotliCompressSync } from 'node:zlib';
import { startEtcd } from '../servers/etcd-server.ts';
import { startKubeApiserver } from '../servers/kube-apiserver.ts';
import { type Ask, digestOf, flags, prepare, varying } from './sweep.ts';

/** Number of times each request is sent: some messages have the order of Go's maps. */
const times = 4;

await using etcd = await startEtcd();
await using server = await startKubeApiserver(etcd.url, flags);
const ask = ((path, options) => server.fetch(path, options)) as Ask;
const requests = await prepare(ask);
const digests = new Array<string>(requests.length);
let next = 0;
const player = async (): Promise<void> => {
  for (let at = next++; at < requests.length; at = next++) {
    const { path, ...options } = requests[at]!;
    const answers = new Set<string>();
    for (let time = 0; time < times; time += 1) answers.add(digestOf(await ask(path, options)));
    digests[at] = answers.size === 1 ? [...answers][0]! : varying;
  }
};
await Promise.all([player(), player(), player(), player()]);
const places = requests.map(({ kind, verb, place }) => `${kind} ${verb} ${place}`);
writeFileSync(
  new URL('./kube-apiserver.json.br', import.meta.url),
  brotliCompressSync(JSON.stringify({ places, digests: digests.join('') })),
);
console.log(`${requests.length} requests, of which ${digests.filter((digest) => digest === varying).length} have several responses`);
