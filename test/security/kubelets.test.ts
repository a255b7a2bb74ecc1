import { once } from 'node:events';
import { createServer } from 'node:https';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Authority, type KeyPair } from '#cmd/certificates/issue';
import { startTestCluster } from '#testing/index';

let folder: string;
let authority: Authority;
let kubelet: KeyPair;
const file = (name: string): string => join(folder, name);
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-kubelets-'));
  const [own, other] = await Promise.all([Authority.create('kubelets'), Authority.create('others')]);
  authority = own;
  kubelet = await own.issue({ commonName: 'system:node:n', names: ['127.0.0.1'], usages: ['server'] });
  const client = await own.issue({ commonName: 'kube-apiserver-kubelet-client', usages: ['client'] });
  const files = { 'ca.crt': own.pair.cert, 'other.crt': other.pair.cert, 'client.crt': client.cert, 'client.key': client.key };
  await Promise.all(Object.entries(files).map(([name, text]) => writeFile(file(name), text)));
});
afterAll(() => rm(folder, { recursive: true }));

it.each([
  {
    name: 'presents its certificate to a kubelet with a trusted CA',
    ca: 'ca.crt',
    want: [200, 'asked by kube-apiserver-kubelet-client'],
  },
  {
    name: 'sends nothing to a kubelet with another CA',
    ca: 'other.crt',
    want: [500, 'x509: certificate signed by unknown authority'],
  },
])('the server $name', async ({ ca, want }) => {
  const asked: string[] = [];
  const server = createServer({ ...kubelet, ca: authority.pair.cert, requestCert: true, rejectUnauthorized: true }, (request, response) => {
    const { CN = '' } = (request.socket as TLSSocket).getPeerCertificate().subject;
    asked.push(request.url ?? '');
    response.end(`asked by ${String(CN)}`);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  await using cluster = await startTestCluster({
    flags: [
      ...[`--kubelet-certificate-authority=${file(ca)}`, `--kubelet-client-certificate=${file('client.crt')}`],
      ...[`--kubelet-client-key=${file('client.key')}`, '--kubelet-preferred-address-types=InternalIP'],
      ...[`--kubelet-port=${(server.address() as AddressInfo).port}`, '--disable-admission-plugins=ServiceAccount'],
    ],
  });
  const addresses = [
    { type: 'Hostname', address: 'not-asked.invalid' },
    { type: 'InternalIP', address: '127.0.0.1' },
  ];
  await cluster.fetch('/api/v1/nodes', { body: { metadata: { name: 'n' }, status: { addresses } } });
  const pods = '/api/v1/namespaces/default/pods';
  const spec = { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] };
  await cluster.fetch(pods, { body: { metadata: { name: 'p' }, spec } });
  const answer = await cluster.fetch(`${pods}/p/log`);
  expect([answer.status, await answer.text()]).toEqual([want[0], expect.stringContaining(String(want[1]))]);
  expect(asked).toHaveLength(want[0] === 200 ? 1 : 0);
  server.closeAllConnections();
  server.close();
});
