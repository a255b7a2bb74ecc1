/**
 * Measures how long reviews of `kubenest webhook`, which anyone who reaches its port may send, block the event loop: the CPU time of the
 * thread between two turns.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { noCredentials } from '#apiserver/network/webhook/kubeconfig';
import { loadPlugins } from '#apiserver/plugins/load-plugins';
import { serveSdk } from '#apiserver/plugins/serve-sdk';
import { newLog } from '#cmd/logging/log';
import { createWebhookServer, type WebhookServer } from '#cmd/webhook/webhook-server';
import { startTestCluster, type TestCluster } from '#testing/index';
import { issueServingCertificate } from '#testing/serving-certificate';
import { limitBytes, longestTurn, many } from './longest-turn.ts';

/** Garbage collection of a million values takes longer than a chunk of work. */
const atMostMs = 250;

const source = `
import { AdmissionPlugin, contribute } from 'kubenest/sdk';
class Marks {
  admit({ object }) { object.metadata.labels = { marked: 'yes', ...object.metadata.labels }; }
  validate() {}
}
AdmissionPlugin({ name: 'Marks', match: [{ groups: ['*'], resources: ['*'], operations: ['CREATE', 'UPDATE'] }] })(Marks);
export default contribute(Marks);
`;

let folder: string;
let cluster: TestCluster;
let server: WebhookServer;
let port: number;
let ca: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-reviews-'));
  await mkdir(join(folder, 'marks'));
  const manifest = { name: 'marks', version: '1.0.0', type: 'module', kubenest: { sdk: '^1', plugins: ['./index.js'] } };
  await writeFile(join(folder, 'marks/package.json'), JSON.stringify(manifest));
  await writeFile(join(folder, 'marks/index.js'), source);
  serveSdk();
  cluster = await startTestCluster({ listen: true, quiet: true });
  const { certificateAuthority, ...certificate } = await issueServingCertificate();
  ca = certificateAuthority;
  server = await createWebhookServer({
    connection: {
      ...noCredentials,
      url: new URL(cluster.url!),
      authorization: `Bearer ${cluster.token('admin')}`,
      certificateAuthority: undefined,
      serverName: undefined,
      insecure: true,
    },
    contributions: await loadPlugins([{ package: './marks' }], folder),
    listener: { bindAddress: '127.0.0.1', port: 0, certificate },
    log: newLog(-1),
    id: 'test',
    shutdownDelayMs: 0,
  });
  ({ port } = (await server.start()) as AddressInfo);
  await server.whenSynced();
}, 60_000);
afterAll(async () => {
  await server.stop();
  await cluster[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const bytes = limitBytes;
const meta = '"apiVersion":"v1","metadata":{"name":"a","namespace":"default"}';
const shapes: readonly (readonly [name: string, resource: string, kind: string, object: () => string])[] = [
  ['a text', 'configmaps', 'ConfigMap', () => `{"kind":"ConfigMap",${meta},"data":{"a":"${'x'.repeat(bytes)}"}}`],
  ['many keys', 'configmaps', 'ConfigMap', () => `{"kind":"ConfigMap",${meta},"data":{${many((i) => `"k${i}":"v"`, bytes)}}}`],
  ['many containers', 'pods', 'Pod', () => `{"kind":"Pod",${meta},"spec":{"containers":[${many(() => '{"name":"c"}', bytes)}]}}`],
  [
    'many empty structs',
    'endpoints',
    'Endpoints',
    () => `{"kind":"Endpoints",${meta},"subsets":[{"addresses":[${many(() => '{}', bytes / 2)}]}]}`,
  ],
  ['many unknown fields', 'pods', 'Pod', () => `{"kind":"Pod",${meta},"spec":{${many((i) => `"u${i}":[]`, bytes)}}}`],
];

it.each(shapes.flatMap((shape) => (['mutate', 'validate'] as const).map((phase) => [phase, ...shape] as const)))(
  '%s: %s',
  { timeout: 120_000 },
  async (phase, _, resource, kind, object) => {
    const request = `"uid":"u","kind":{"version":"v1","kind":"${kind}"},"resource":{"version":"v1","resource":"${resource}"},"operation":"CREATE"`;
    const review = Buffer.from(
      `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{${request},"namespace":"default","name":"a","object":${object()}}}`,
    );
    let status = 0;
    const turn = await longestTurn(async () => {
      status = await post(`/${phase}`, review);
    }, atMostMs);
    expect(status).toBe(200);
    expect(turn).toBeLessThan(atMostMs);
  },
);

/** Sends the body in small parts, so that the client does not block the event loop either. */
async function post(path: string, body: Buffer): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const headers = { 'content-type': 'application/json', 'content-length': body.length };
  const request = https.request({ port, ca, path, method: 'POST', headers, host: '127.0.0.1' }, (response) => {
    response.resume().on('end', () => resolve(response.statusCode ?? 0));
  });
  request.on('error', reject);
  for (let at = 0; at < body.length; at += 65_536)
    if (!request.write(body.subarray(at, at + 65_536))) await new Promise((drained) => request.once('drain', drained));
  request.end();
  return promise;
}
