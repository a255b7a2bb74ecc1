/** Selected lists are separate copies, so clients that request many and read none must not exhaust memory. */
import { createCipheriv } from 'node:crypto';
import { once } from 'node:events';
import http2 from 'node:http2';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestCluster, type TestCluster } from '#testing/index';

const configMaps = '/api/v1/namespaces/default/configmaps';
const noisy = '/api/v1/namespaces/noisy/configmaps';
const count = 24;
const text = 'x'.repeat(500_000);
/** A text that cannot be compressed by more than a quarter. */
const noise = createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16)).update(Buffer.alloc(375_000)).toString('base64');
const many = Array.from({ length: 30 }, (_, i) => ({ name: `user-${i}`, groups: ['system:masters'] }));
let cluster: TestCluster;

beforeAll(async () => {
  cluster = await startTestCluster({ listen: true, users: [{ name: 'another', groups: ['system:masters'] }, ...many] });
  await cluster.fetch('/api/v1/namespaces', { body: { metadata: { name: 'noisy' } } });
  for (let i = 0; i < count; i += 1) {
    const labels = Object.fromEntries(Array.from({ length: 20 }, (_, label) => [`l${label}`, 'x']));
    await cluster.fetch(configMaps, { body: { metadata: { name: `large-${i}`, labels }, data: { text } } });
    await cluster.fetch(noisy, { body: { metadata: { name: `noise-${i}`, labels }, data: { text: noise } } });
  }
}, 60_000);
afterAll(() => cluster[Symbol.asyncDispose]());

const usedBytes = (): number => {
  const { external, arrayBuffers, heapUsed } = process.memoryUsage();
  return Math.max(external, arrayBuffers) + heapUsed;
};

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function usedAfterCollection(): number {
  collect();
  return usedBytes();
}

function open(session: http2.ClientHttp2Session, label: number, accept: string, more = ''): http2.ClientHttp2Stream {
  return openAll(session, accept, `?labelSelector=${encodeURIComponent(`l${label % 20}=x,name${label}!=y`)}${more}`);
}

function openAll(session: http2.ClientHttp2Session, accept: string, query = ''): http2.ClientHttp2Stream {
  const stream = session.request({ ':path': `${configMaps}${query}`, authorization: `Bearer ${cluster.token('admin')}`, accept });
  stream.on('error', () => undefined);
  return stream;
}

it.each([
  'application/json',
  'application/vnd.kubernetes.protobuf',
  'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json',
])(
  'buffers a bounded amount of unread lists in %s, and sends those that are read',
  async (accept) => {
    const session = http2.connect(cluster.url ?? '', {
      ca: cluster.certificateAuthority ?? '',
      settings: { initialWindowSize: 0 },
    });
    session.on('error', () => undefined);
    const before = usedBytes();
    const streams = Array.from({ length: 40 }, (_, i) => open(session, i, accept));
    await Promise.all(streams.slice(0, 4).map((stream) => new Promise((resolve) => stream.once('response', resolve))));
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    // 40 lists of 12 MB would be 480 MB.
    expect(usedBytes() - before).toBeLessThan(220_000_000);
    const reader = http2.connect(cluster.url ?? '', { ca: cluster.certificateAuthority ?? '' });
    let received = 0;
    const read = open(reader, 99, accept);
    for await (const chunk of read) received += (chunk as Buffer).length;
    expect(received).toBeGreaterThan(accept.includes('Partial') ? 1_000 : count * text.length);
    reader.destroy();
    session.destroy();
  },
  60_000,
);

it.each([
  ['compressed', 'application/json', ''],
  ['compressed protobuf', 'application/vnd.kubernetes.protobuf', ''],
  ['compressed Tables', 'application/json;as=Table;v=v1;g=meta.k8s.io', '&includeObject=Object'],
])('%s lists that many users do not read all begin, and hold a bounded amount', { timeout: 120_000 }, async (_name, accept, more) => {
  const sessions = many.map(() =>
    http2.connect(cluster.url ?? '', { ca: cluster.certificateAuthority ?? '', settings: { initialWindowSize: 0 } }),
  );
  const before = usedAfterCollection();
  const heads = sessions.flatMap((session, user) => {
    session.on('error', () => undefined);
    return [0, 1].map((label) => {
      const stream = session.request({
        ':path': `${noisy}?labelSelector=l${label}%3Dx,name${user}!%3Dy${more}`,
        authorization: `Bearer ${cluster.token(`user-${user}`)}`,
        'accept-encoding': 'gzip',
        accept,
      });
      stream.on('error', () => undefined);
      return once(stream, 'response') as Promise<[http2.IncomingHttpHeaders]>;
    });
  });
  const answers = (await Promise.all(heads)).map(([head]) => [head[':status'], head['content-encoding']]);
  expect(answers).toEqual(answers.map(() => [200, 'gzip']));
  // 60 lists of 9 MB, compressed, would be 540 MB.
  expect(usedAfterCollection() - before).toBeLessThan(330_000_000);
  for (const session of sessions) session.destroy();
});

it('a compressed list that is made as it is read is whole', async () => {
  const session = http2.connect(cluster.url ?? '', { ca: cluster.certificateAuthority ?? '', settings: { initialWindowSize: 0 } });
  session.on('error', () => undefined);
  const path = (label: number): string => `${noisy}?labelSelector=l${label}%3Dx`;
  const headers = { authorization: `Bearer ${cluster.token('admin')}`, 'accept-encoding': 'gzip' };
  const unread = Array.from({ length: 4 }, (_, i) => session.request({ ':path': path(i), ...headers }));
  for (const stream of unread) stream.on('error', () => undefined);
  await Promise.all(unread.map((stream) => once(stream, 'response')));
  const reader = http2.connect(cluster.url ?? '', { ca: cluster.certificateAuthority ?? '' });
  const read = reader.request({ ':path': path(5), ...headers });
  const [head] = (await once(read, 'response')) as [http2.IncomingHttpHeaders];
  expect(head['content-length']).toBeUndefined();
  const parts: Buffer[] = [];
  for await (const part of read) parts.push(part as Buffer);
  const { items } = JSON.parse(gunzipSync(Buffer.concat(parts)).toString()) as { items: { data: { text: string } }[] };
  expect(items.map(({ data }) => data.text === noise)).toEqual(Array(count).fill(true));
  reader.destroy();
  session.destroy();
}, 60_000);

it('a list of another user does not wait for unread ones that are held whole', async () => {
  const session = http2.connect(cluster.url ?? '', { ca: cluster.certificateAuthority ?? '', settings: { initialWindowSize: 0 } });
  session.on('error', () => undefined);
  const streams = Array.from({ length: 6 }, (_, i) => open(session, i, 'application/json', '&pretty=1'));
  // Two of 12 MB fit; the others wait.
  let heads = 0;
  await new Promise<void>((resolve) => {
    for (const stream of streams) stream.once('response', () => (heads += 1) === 2 && resolve());
  });
  const { status } = await cluster.fetch(`${configMaps}?labelSelector=l1%3Dx&pretty=1`, { as: 'another' });
  expect(status).toBe(200);
  session.destroy();
}, 60_000);

it('lists as YAML whose clients have left use no memory', async () => {
  const before = usedBytes();
  const session = http2.connect(cluster.url ?? '', { ca: cluster.certificateAuthority ?? '' });
  session.on('error', () => undefined);
  let greatest = 0;
  for (let i = 0; i < 20; i += 1) {
    // Lists without a selector share their items, and each is a copy as YAML.
    const stream = i % 2 === 0 ? open(session, i, 'application/yaml') : openAll(session, 'application/yaml');
    // One small answer later, the list is on its way to the thread.
    await cluster.fetch('/api/v1/namespaces/default');
    await new Promise((resolve) => setTimeout(resolve, 30));
    stream.close(http2.constants.NGHTTP2_CANCEL);
    greatest = Math.max(greatest, usedBytes() - before);
  }
  // 20 lists of 12 MB, each with a copy, would be 480 MB.
  expect(greatest).toBeLessThan(200_000_000);
  session.destroy();
}, 60_000);
