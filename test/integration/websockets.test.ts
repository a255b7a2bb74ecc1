import { connect } from 'node:http2';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestCluster, type TestCluster } from '#testing/index';
import { askWebSocket, type Frame, masked } from './websocket-client.ts';

const maps = '/api/v1/namespaces/ws/configmaps';
const watch = `${maps}?watch=true&timeoutSeconds=1`;
const token = 'base64url.bearer.authorization.k8s.io.';

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startTestCluster({ listen: true, users: [{ name: 'jane', groups: [] }] });
  await cluster.fetch('/api/v1/namespaces', { body: { metadata: { name: 'ws' } } });
  await cluster.fetch(maps, { body: { metadata: { name: 'one' } } });
});
afterAll(() => cluster[Symbol.asyncDispose]());

const text = 0x81;
const binary = 0x82;
const close = 0x88;
const pong = 0x8a;
const normal = { opcode: close, payload: Buffer.from([3, 232]) };
const accepted = ['Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo='];

const event = (frame: Frame | undefined): { type: string; object: { kind: string; metadata: { name?: string } } } =>
  JSON.parse(frame?.payload.toString() ?? '') as never;
const opcodes = (frames: readonly Frame[]): number[] => frames.map(({ opcode }) => opcode);

/** All responses equal those of kube-apiserver v1.36.3. */
describe('a watch over WebSocket', () => {
  it('sends each event as a text message and ends with a close frame', async () => {
    const { status, headers, frames } = await askWebSocket(cluster, watch);
    expect([status, headers]).toEqual(['101 Switching Protocols', accepted]);
    expect(opcodes(frames)).toEqual([text, close]);
    expect(frames[0]?.payload.toString()).toBe(await (await cluster.fetch(watch)).text());
    expect(frames[1]).toEqual(normal);
  });

  it.each([
    ['/api/v1/watch/namespaces/ws/configmaps?timeoutSeconds=1', ['one']],
    ['/api/v1/watch/namespaces/ws/configmaps/one?timeoutSeconds=1', ['one']],
    ['/api/v1/watch/namespaces/ws/configmaps/two?timeoutSeconds=1', []],
    [`${watch}&fieldSelector=metadata.name%3Done`, ['one']],
  ])('is served at %s', async (path, names) => {
    const { frames } = await askWebSocket(cluster, path);
    expect(
      frames
        .slice(0, -1)
        .map((frame) => event(frame).object.metadata.name)
        .filter((name) => name !== 'kube-root-ca.crt'),
    ).toEqual(names);
  });

  it.each([
    ['application/vnd.kubernetes.protobuf', binary],
    ['application/vnd.kubernetes.protobuf;stream=watch', binary],
    ['application/json;as=Table;v=v1;g=meta.k8s.io', text],
    ['application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io', text],
  ])('sends %s', async (accept, opcode) => {
    const { frames } = await askWebSocket(cluster, watch, { Accept: accept });
    expect(opcodes(frames)).toEqual([opcode, close]);
    // A protobuf message contains an event without the length prefix of a stream.
    if (opcode === binary) expect(frames[0]?.payload.subarray(0, 7)).toEqual(Buffer.from('\n\x05ADDED'));
  });

  it('sends later events', async () => {
    const { promise: opened, resolve } = Promise.withResolvers<void>();
    const asking = askWebSocket(cluster, `${maps}?watch=true&timeoutSeconds=2&labelSelector=later`, {}, [], resolve);
    await opened;
    await cluster.fetch(maps, { body: { metadata: { name: 'later', labels: { later: '' } } } });
    await cluster.fetch(`${maps}/later`, { method: 'DELETE' });
    const { frames } = await asking;
    expect(frames.slice(0, -1).map((frame) => event(frame).type)).toEqual(['ADDED', 'DELETED']);
  });

  it.each([
    ['no origin', { Origin: undefined }, '403 Forbidden', '', []],
    ['an invalid origin', { Origin: 'not a url' }, '403 Forbidden', '', []],
    ['the origin null', { Origin: 'null' }, '403 Forbidden', '', []],
    ['two subprotocols', { 'Sec-WebSocket-Protocol': 'binary.k8s.io, base64.binary.k8s.io' }, '400 Bad Request', '', []],
    ['no key', { 'Sec-WebSocket-Key': undefined }, '400 Bad Request', 'mismatch challenge/response', []],
    ['version 8', { 'Sec-WebSocket-Version': '8' }, '400 Bad Request', 'missing or bad WebSocket Version', ['Sec-WebSocket-Version: 13']],
  ])('is rejected with %s', async (_, headers, status, body, sent) => {
    expect(await askWebSocket(cluster, watch, headers)).toEqual({ status, headers: sent, frames: [], body });
  });

  it.each(['binary.k8s.io', 'base64.binary.k8s.io', 'foo'])('accepts the subprotocol %s and sends the same data', async (protocol) => {
    const { headers, frames } = await askWebSocket(cluster, watch, { 'Sec-WebSocket-Protocol': protocol });
    expect([headers, opcodes(frames)]).toEqual([
      [...accepted, `Sec-WebSocket-Protocol: ${protocol}`],
      [text, close],
    ]);
  });

  it.each([
    ['a different origin', { Origin: 'https://evil.example' }],
    ['an empty subprotocol', { 'Sec-WebSocket-Protocol': '' }],
    ['WebSocket in other case', { Upgrade: 'WebSocket' }],
    ['a list of connection options', { Connection: 'keep-alive, Upgrade' }],
  ])('accepts %s', async (_, headers) => {
    expect(opcodes((await askWebSocket(cluster, watch, headers)).frames)).toEqual([text, close]);
  });

  it('accepts a token among the subprotocols, beside another one', async () => {
    const own = `${token}${Buffer.from(cluster.token('admin')).toString('base64url')}`;
    const one = await askWebSocket(cluster, watch, { Authorization: undefined, 'Sec-WebSocket-Protocol': `${own}, base64.binary.k8s.io` });
    expect(one.headers.at(-1)).toBe('Sec-WebSocket-Protocol: base64.binary.k8s.io');
    for (const protocols of [own, `${own}, ${own}, base64.binary.k8s.io`]) {
      const { status } = await askWebSocket(cluster, watch, { Authorization: undefined, 'Sec-WebSocket-Protocol': protocols });
      expect(status).toBe('401 Unauthorized');
    }
  });

  it.each([
    ['without permission to watch', watch, { Authorization: 'jane' }, '403 Forbidden'],
    ['with an invalid selector', `${watch}&labelSelector=a%20b%20c`, {}, '400 Bad Request'],
    ['that requests YAML', watch, { Accept: 'application/yaml' }, '406 Not Acceptable'],
  ])('%s gets an HTTP response', async (_, path, headers, status) => {
    const own = { ...headers, ...('Authorization' in headers && { Authorization: `Bearer ${cluster.token('jane')}` }) };
    const answer = await askWebSocket(cluster, path, own);
    expect([answer.status, JSON.stringify(answer.headers)]).toEqual([status, expect.stringContaining('Audit-Id') as string]);
  });

  it('a list ignores the WebSocket upgrade', async () => {
    expect((await askWebSocket(cluster, maps)).status).toBe('200 OK');
  });

  it.each([
    ['answers a ping', [masked(9, 'hi')], [{ opcode: pong, payload: Buffer.from('hi') }]],
    ['answers the start of a long ping', [masked(9, 'a'.repeat(200))], [{ opcode: pong, payload: Buffer.from('a'.repeat(125)) }]],
    ['ignores messages, pongs and unknown frames', [masked(1, 'x'.repeat(500)), masked(2, 'hi'), masked(10, ''), masked(3, '')], []],
    [
      'reads fragmented frames',
      [...masked(9, 'in pieces')].map((byte) => Buffer.from([byte])),
      [{ opcode: pong, payload: Buffer.from('in pieces') }],
    ],
    ['closes on an unmasked frame', [Buffer.from([0x81, 2, 0x68, 0x69])], [{ opcode: close, payload: Buffer.from([3, 234]) }]],
  ])('%s', async (_, send, expected) => {
    const { frames } = await askWebSocket(cluster, watch, {}, send);
    expect(frames.filter(({ opcode }) => opcode !== text)).toEqual([...expected, normal]);
  });

  it('ends when the client disconnects', async () => {
    const began = performance.now();
    const { frames } = await askWebSocket(cluster, watch.replace('=1', '=60'), {}, [masked(8, Buffer.from([3, 232]))]);
    expect([frames.at(-1), performance.now() - began < 10_000]).toEqual([normal, true]);
  });

  it('ends with a close frame when the server shuts down', async () => {
    await using other = await startTestCluster({ listen: true });
    const { promise: opened, resolve } = Promise.withResolvers<void>();
    const asking = askWebSocket(other, '/api/v1/namespaces?watch=true', {}, [], resolve);
    await opened;
    await other[Symbol.asyncDispose]();
    expect((await asking).frames.at(-1)).toEqual(normal);
  });

  it('is not supported over HTTP/2', async () => {
    const session = connect(cluster.url as string, { ca: cluster.certificateAuthority });
    const [settings] = (await once(session, 'remoteSettings')) as [{ enableConnectProtocol?: boolean }];
    session.close();
    expect(settings.enableConnectProtocol).toBe(false);
  });
});
