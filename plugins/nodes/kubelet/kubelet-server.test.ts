import { Buffer } from 'node:buffer';
import type http from 'node:http';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import https from 'node:https';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { constants, createDeflate } from 'node:zlib';
import type { SharedInformer } from 'kubenest/sdk';
import type { Pod } from 'kubenest/types/core_v1';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Authority, type KeyPair } from '#cmd/certificates/issue';
import { longestTurn } from '../../../test/security/longest-turn.ts';
import { KnownPods } from '../pods/known-pods.ts';
import { PodFiles } from '../pods/pod-files.ts';
import { SharedVolumes } from '../pods/shared-volumes.ts';
import { dataFrame, resetFrame, SpdyFrameReader, synStreamFrame } from '../spdy/frames.ts';
import { dictionary } from '../spdy/headers.ts';
import { KubeletServers } from './kubelet-server.ts';
import type { ServiceAccountTokens } from './service-account-tokens.ts';

let kubelets: KubeletServers;
let port: number;
let client: KeyPair;
let otherAuthority: KeyPair;
let user: KeyPair;
let administrator: KeyPair;
let localPort: number;
const backend = createServer((socket) => socket.pipe(socket));

function pod(
  name: string,
  more: { command?: string[]; image?: string; annotations?: Record<string, string>; state?: object; restarts?: object } = {},
): Pod {
  const { command, image = 'nginx', annotations = {}, state = { running: { startedAt: '2026-01-01T00:00:00Z' } }, restarts = {} } = more;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', uid: name, annotations },
    spec: { nodeName: 'node-1', containers: [{ name: 'c', image, ports: [{ containerPort: 8080 }], ...(command && { command }) }] },
    status: { phase: 'Running', podIP: '10.1.0.2', containerStatuses: [{ name: 'c', state, ...restarts }] },
  };
}

/** A local port to which the server does not forward. */
const forbiddenPort = 22;
let pods: Map<string, Pod>;
let tokensOf: ServiceAccountTokens['addTo'] = async (mounted) => mounted;
let known: KnownPods;

beforeAll(async () => {
  const authority = await Authority.create('kubelets');
  const server = await authority.issue({ commonName: 'kubelet', names: ['127.0.0.1'], usages: ['server'] });
  client = await authority.issue({ commonName: 'apiserver', usages: ['client'] });
  user = await authority.issue({ commonName: 'jane', organizations: ['developers', 'team-a'], usages: ['client'] });
  administrator = await authority.issue({ commonName: 'kubernetes-admin', organizations: ['system:masters'], usages: ['client'] });
  otherAuthority = await (await Authority.create('others')).issue({ commonName: 'apiserver', usages: ['client'] });
  await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', resolve));
  localPort = (backend.address() as AddressInfo).port;
  pods = new Map(
    [
      pod('web', { annotations: { 'node.kubenest.dev/port-forward': JSON.stringify({ 80: localPort, 81: forbiddenPort }) } }),
      pod('said', { annotations: { 'node.kubenest.dev/logs': 'one\ntwo\nthree' } }),
      pod('echo', {
        command: ['sh', '-c', 'echo hello'],
        state: { terminated: { exitCode: 0, startedAt: '2026-01-01T00:00:00Z', finishedAt: '2026-01-01T00:00:00Z' } },
      }),
      pod('two-streams', {
        command: ['sh', '-c', 'echo a; printf b >&2; printf c; sleep 1; echo d >&2; echo e'],
        state: { terminated: { exitCode: 0, startedAt: '2026-01-01T00:00:00Z', finishedAt: '2026-01-01T00:00:01Z' } },
      }),
      pod('ticking', { command: ['sh', '-c', 'printf "a"; sleep 1; echo b; while true; do echo tick; sleep 0.4; done'] }),
      pod('api', { image: 'example.com/api:1' }),
      pod('waiting', { state: { waiting: { reason: 'ContainerCreating' } } }),
      pod('scripted', {
        annotations: { 'node.kubenest.dev/exec': JSON.stringify({ 'psql -c x': { stdout: 'row\n', stderr: 'note\n', exitCode: 3 } }) },
      }),
    ].map((one) => [one.metadata.name ?? '', one]),
  );
  const informer = { addIndex: () => {}, get: (_: string, name: string) => pods.get(name), byIndex: () => [...pods.values()] };
  known = new KnownPods(informer as unknown as SharedInformer<Pod>);
  const pages = { '/metrics/resource': (node: string) => ({ type: 'text/plain', body: `metrics of ${node}` }) };
  kubelets = new KubeletServers(
    { ...server, clientAuthorities: authority.pair.cert, clientName: 'apiserver' },
    known,
    pages,
    [localPort],
    new PodFiles(known, new SharedVolumes(() => undefined, '')),
    { addTo: (mounted, ...more) => tokensOf(mounted, ...more) } as Partial<ServiceAccountTokens> as ServiceAccountTokens,
  );
  port = await kubelets.start('node-1');
});
afterAll(async () => {
  await kubelets[Symbol.asyncDispose]();
  await new Promise((resolve) => backend.close(resolve));
});

function get(path: string, pair: KeyPair = client): Promise<{ status: number | undefined; text: string }> {
  return new Promise((resolve, reject) => {
    const request = https.get({
      host: '127.0.0.1',
      port,
      path,
      rejectUnauthorized: false,
      agent: false,
      ...pair,
    });
    request.once('error', reject);
    request.once('response', (response: http.IncomingMessage) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('end', () => resolve({ status: response.statusCode, text: Buffer.concat(chunks).toString() }));
    });
  });
}

interface Upgraded {
  readonly status: number | undefined;
  readonly headers: http.IncomingHttpHeaders;
  readonly socket: Duplex | undefined;
}

function upgrade(path: string, headers: http.OutgoingHttpHeaders): Promise<Upgraded> {
  return new Promise((resolve, reject) => {
    const request = https.request({
      host: '127.0.0.1',
      port,
      path,
      method: 'POST',
      rejectUnauthorized: false,
      agent: false,
      cert: client.cert,
      key: client.key,
      headers: { connection: 'Upgrade', ...headers },
    });
    request.once('error', reject);
    request.once('response', (response) => {
      response.resume();
      resolve({ status: response.statusCode, headers: response.headers, socket: undefined });
    });
    request.once('upgrade', (response, socket, head) => {
      if (head.length > 0) socket.unshift(head);
      resolve({ status: response.statusCode, headers: response.headers, socket });
    });
    request.end();
  });
}

describe('requests', () => {
  it.each<{ name: string; path: string; pair?: () => KeyPair; status: number; text: string | RegExp }>([
    {
      name: 'a log without output',
      path: '/containerLogs/default/web/c',
      status: 200,
      text: 'c: simulated container of image nginx started\n',
    },
    { name: 'a log of the annotation', path: '/containerLogs/default/said/c', status: 200, text: 'one\ntwo\nthree\n' },
    { name: 'the last lines', path: '/containerLogs/default/said/c?tailLines=2', status: 200, text: 'two\nthree\n' },
    { name: 'both streams', path: '/containerLogs/default/two-streams/c?stream=All', status: 200, text: 'a\nbd\nce\n' },
    { name: 'standard output', path: '/containerLogs/default/two-streams/c?stream=Stdout', status: 200, text: 'a\nce\n' },
    { name: 'standard error', path: '/containerLogs/default/two-streams/c?stream=Stderr', status: 200, text: 'bd\n' },
    { name: 'the first bytes', path: '/containerLogs/default/said/c?limitBytes=5', status: 200, text: 'one\nt' },
    {
      name: 'timestamps',
      path: '/containerLogs/default/said/c?tailLines=1&timestamps=true',
      status: 200,
      text: '2026-01-01T00:00:00.000000000Z three\n',
    },
    {
      name: 'the last lines of a loop that has run for a long time, with their times',
      path: '/containerLogs/default/ticking/c?tailLines=3&timestamps=true',
      status: 200,
      text: /^(?:20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d00000000Z tick\n){3}$/,
    },
    {
      name: 'the first lines of a command that pauses',
      path: '/containerLogs/default/ticking/c?limitBytes=70&timestamps=true',
      status: 200,
      text: '2026-01-01T00:00:00.000000000Z ab\n2026-01-01T00:00:01.000000000Z tick\n',
    },
    { name: 'lines since a later time', path: '/containerLogs/default/said/c?sinceTime=2026-01-02T00:00:00Z', status: 200, text: '' },
    { name: 'the output of a command that has ended', path: '/containerLogs/default/echo/c?follow=true', status: 200, text: 'hello\n' },
    {
      name: 'the log of a container that has not started',
      path: '/containerLogs/default/waiting/c',
      status: 400,
      text: 'container "c" in pod "waiting" is waiting to start: ContainerCreating',
    },
    {
      name: 'the log before a restart that did not happen',
      path: '/containerLogs/default/web/c?previous=true',
      status: 400,
      text: 'previous terminated container "c" in pod "web" not found',
    },
    { name: 'the log of an unknown pod', path: '/containerLogs/default/none/c', status: 404, text: 'pod "none" not found' },
    {
      name: 'the log of an unknown container',
      path: '/containerLogs/default/web/x',
      status: 404,
      text: 'container "x" not found in pod "web"',
    },
    { name: 'an invalid number', path: '/containerLogs/default/web/c?tailLines=x', status: 400, text: '{"message": "Invalid request."}' },
    { name: 'an invalid escape', path: '/containerLogs/%zz/web/c', status: 400, text: 'Bad Request' },
    { name: 'pods', path: '/pods', status: 200, text: /^\{"kind":"PodList".*"name":"web"/ },
    { name: 'metrics', path: '/metrics/resource', status: 200, text: 'metrics of node-1' },
    { name: 'another path', path: '/configz', status: 404, text: '404 page not found' },
    { name: 'a client without a certificate', path: '/pods', pair: () => ({ cert: '', key: '' }), status: 401, text: 'Unauthorized' },
    { name: 'a client of another authority', path: '/pods', pair: () => otherAuthority, status: 401, text: 'Unauthorized' },
    { name: 'an ordinary user of the authority', path: '/pods', pair: () => user, status: 403, text: 'Forbidden' },
    { name: 'an administrator', path: '/healthz', pair: () => administrator, status: 200, text: 'ok' },
  ])('$name: $status', async ({ path, pair, status, text }) => {
    const answer = await get(path, pair?.());
    expect(answer.status).toBe(status);
    if (text instanceof RegExp) expect(answer.text).toMatch(text);
    else expect(answer.text).toBe(text);
  });

  it('a followed log ends when the pod is deleted', async () => {
    const answer = get('/containerLogs/default/web/c?follow=true');
    const web = pods.get('web') as Pod;
    const timer = setInterval(() => known.changed(web, true), 20);
    expect(await answer).toEqual({ status: 200, text: 'c: simulated container of image nginx started\n' });
    clearInterval(timer);
  });
});

/** A client's frame of a WebSocket with a short payload. */
function maskedFrame(payload: Buffer, opcode = 2): Buffer {
  const mask = Buffer.from([1, 2, 3, 4]);
  const masked = Buffer.from(payload.map((byte, i) => byte ^ (mask[i & 3] as number)));
  return Buffer.concat([Buffer.from([0x80 | opcode, 0x80 | payload.length]), mask, masked]);
}

/** Collects the messages of a server by channel until the connection ends. */
async function channelsOf(socket: Duplex): Promise<Record<number, string>> {
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  const channels: Record<number, string> = {};
  for (let at = 0; at + 2 <= bytes.length; ) {
    const short = bytes[at + 1] as number;
    const start = at + (short === 126 ? 4 : 2);
    const length = short === 126 ? bytes.readUInt16BE(at + 2) : short;
    if (((bytes[at] as number) & 0xf) === 2) {
      const channel = bytes[start] as number;
      channels[channel] = (channels[channel] ?? '') + bytes.toString('utf8', start + 1, start + length);
    }
    at = start + length;
  }
  return channels;
}

const webSocket = (protocol: string): http.OutgoingHttpHeaders => ({
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  'sec-websocket-protocol': protocol,
});
const commandOf = (...words: string[]): string => words.map((word) => `command=${encodeURIComponent(word)}`).join('&');

describe('remote commands over WebSocket', () => {
  it.each<{ name: string; pod?: string; query: string; stdin?: string; want: Record<number, unknown> }>([
    {
      name: 'an exit code',
      query: commandOf('sh', '-c', 'echo out; echo err >&2; exit 4'),
      want: { 1: 'out\n', 2: 'err\n', 3: expect.stringContaining('"message":"4"') },
    },
    {
      name: 'an unknown program',
      query: commandOf('nginx'),
      want: {
        1: '',
        2: 'sh: nginx: not found (this container is simulated; the annotation node.kubenest.dev/exec can give the output of a command)\n',
        3: expect.stringContaining('"127"'),
      },
    },
    {
      name: 'a response of the annotation',
      pod: 'scripted',
      query: commandOf('psql', '-c', 'x'),
      want: { 1: 'row\n', 2: 'note\n', 3: expect.stringContaining('"3"') },
    },
    { name: 'an echo', query: `input=1&${commandOf('cat')}`, stdin: 'text', want: { 1: 'text', 3: expect.stringContaining('Success') } },
    {
      name: 'a shell',
      query: `input=1&${commandOf('sh')}`,
      stdin: 'hostname\nfalse\nexit\n',
      want: { 1: 'web\n', 3: expect.stringContaining('"1"') },
    },
    {
      name: 'a shell on a terminal',
      query: `input=1&tty=1&${commandOf('sh')}`,
      stdin: 'ecko\x7f\x7fho a\r\x04',
      want: { 1: '/ # ecko\b \b\b \bho a\r\na\r\n/ # ', 3: expect.stringContaining('Success') },
    },
  ])('$name', async ({ pod: name = 'web', query, stdin, want }) => {
    const { status, headers, socket } = await upgrade(`/exec/default/${name}/c?output=1&error=1&${query}`, webSocket('v5.channel.k8s.io'));
    expect([status, headers['sec-websocket-protocol']]).toEqual([101, 'v5.channel.k8s.io']);
    if (stdin !== undefined) {
      socket?.write(maskedFrame(Buffer.concat([Buffer.from([0]), Buffer.from(stdin)])));
      socket?.write(maskedFrame(Buffer.from([255, 0])));
    }
    expect(await channelsOf(socket as Duplex)).toEqual(want);
  });

  it('attaches to what a container writes from then on', async () => {
    const { socket } = await upgrade('/attach/default/ticking/c?output=1', webSocket('v5.channel.k8s.io'));
    let length = 0;
    socket?.on('data', (bytes: Buffer) => {
      length += bytes.length;
      if (length > 20) socket.write(maskedFrame(Buffer.alloc(0), 8));
    });
    expect((await channelsOf(socket as Duplex))[1]).toMatch(/^(?:tick\n){1,6}$/);
  });

  it('starts nothing for a client that left while its tokens were requested', async () => {
    const asked = Promise.withResolvers<void>();
    const given = Promise.withResolvers<void>();
    const left = Promise.withResolvers<void>();
    const before = tokensOf;
    tokensOf = async (mounted) => {
      asked.resolve();
      await left.promise;
      // The command continues before this.
      setImmediate(() => given.resolve());
      return mounted;
    };
    const followed = vi.spyOn(known, 'watch');
    let accepted: Socket | undefined;
    const accept = (message: unknown): void => {
      accepted = (message as { socket: Socket }).socket;
    };
    subscribe('net.server.socket', accept);
    const request = https.request({
      host: '127.0.0.1',
      port,
      path: '/attach/default/ticking/c?output=1',
      rejectUnauthorized: false,
      agent: false,
      ...client,
      headers: { connection: 'Upgrade', ...webSocket('v5.channel.k8s.io') },
    });
    request.on('error', () => {});
    request.end();
    await asked.promise;
    const closed = once(accepted as unknown as Socket, 'close');
    unsubscribe('net.server.socket', accept);
    request.destroy();
    await closed;
    await nextTurn();
    left.resolve();
    await given.promise;
    expect(followed).not.toHaveBeenCalled();
    followed.mockRestore();
    tokensOf = before;
  });

  it('ends what is attached to a container with the container', async () => {
    const { socket } = await upgrade('/attach/default/said/c?output=1', webSocket('v5.channel.k8s.io'));
    const timer = setInterval(() => known.changed(pods.get('said') as Pod, true), 20);
    expect(await channelsOf(socket as Duplex)).toEqual({ 1: '', 3: '{"metadata":{},"status":"Success"}' });
    clearInterval(timer);
  });

  it.each([
    { name: 'an unknown container', path: '/exec/default/web/x?command=ls', headers: webSocket('v5.channel.k8s.io'), status: 404 },
    {
      name: 'a container that does not run',
      path: '/exec/default/echo/c?command=ls',
      headers: webSocket('v5.channel.k8s.io'),
      status: 404,
    },
    { name: 'an unknown protocol', path: '/exec/default/web/c?command=ls', headers: webSocket('v9.channel.k8s.io'), status: 403 },
  ])('rejects $name', async ({ path, headers, status }) => {
    expect((await upgrade(path, headers)).status).toBe(status);
  });

  it('takes a message in fragments, and frames in single octets', async () => {
    const { socket } = await upgrade(`/exec/default/web/c?input=1&output=1&${commandOf('cat')}`, webSocket('v5.channel.k8s.io'));
    const fragment = (payload: Buffer, first: number): Buffer => {
      const frame = maskedFrame(payload);
      frame[0] = first;
      return frame;
    };
    const frames = [
      fragment(Buffer.from([0]), 0x02),
      maskedFrame(Buffer.from('ping'), 9),
      fragment(Buffer.from('frag'), 0x00),
      fragment(Buffer.alloc(0), 0x00),
      fragment(Buffer.from('ments'), 0x80),
      fragment(Buffer.from([255]), 0x02),
      fragment(Buffer.from([0]), 0x80),
    ];
    for (const byte of Buffer.concat(frames)) {
      socket?.write(Buffer.from([byte]));
      await nextTurn();
    }
    expect(await channelsOf(socket as Duplex)).toEqual({ 1: 'fragments', 3: expect.stringContaining('Success') });
  });

  it('takes a message that is longer than the memory it may fill', async () => {
    const { socket } = await upgrade(`/exec/default/web/c?input=1&${commandOf('true')}`, webSocket('v5.channel.k8s.io'));
    const head = Buffer.from([0x82, 0xff, 0, 0, 0x7f, 0, 0, 0, 0, 0, 1, 2, 3, 4]);
    socket?.write(head);
    expect(await channelsOf(socket as Duplex)).toEqual({ 1: '', 3: expect.stringContaining('Success') });
  });

  it('yields to the event loop between the lines of a shell', async () => {
    const { socket } = await upgrade(`/exec/default/web/c?input=1&output=1&${commandOf('sh')}`, webSocket('v5.channel.k8s.io'));
    const lines = Buffer.concat([Buffer.from([0]), Buffer.from('\n'.repeat(8_000)), Buffer.from('exit 5\n')]);
    const head = Buffer.alloc(8);
    head.writeUInt32BE(0x82fe_0000 + lines.length);
    const longest = await longestTurn(async () => {
      socket?.write(Buffer.concat([head, lines]));
      expect(await channelsOf(socket as Duplex)).toEqual({ 1: '', 3: expect.stringContaining('"5"') });
    });
    expect(longest).toBeLessThan(100);
  });

  it('closes the connection after an unmasked frame', async () => {
    const { socket } = await upgrade(`/exec/default/web/c?input=1&${commandOf('sh')}`, webSocket('v5.channel.k8s.io'));
    socket?.write(Buffer.from([0x82, 1, 0]));
    const chunks: Buffer[] = [];
    for await (const chunk of socket as Duplex) chunks.push(chunk as Buffer);
    expect(Buffer.concat(chunks).toString('hex')).toMatch(/880203ea$/);
  });
});

describe('streams over SPDY', () => {
  /** Opens streams as a client; returns the payload of each stream once all have ended. */
  async function exchange(
    path: string,
    protocol: string,
    streams: Record<string, string>[],
    sent: Record<number, string>,
  ): Promise<string[]> {
    const { status, headers, socket } = await upgrade(path, { upgrade: 'SPDY/3.1', 'x-stream-protocol-version': protocol });
    expect([status, headers['x-stream-protocol-version']]).toEqual([101, protocol]);
    const deflate = createDeflate({ dictionary });
    for (const [i, one] of streams.entries()) socket?.write(synStreamFrame(2 * i + 1, await compress(deflate, one)));
    for (const [i, text] of Object.entries(sent)) socket?.write(dataFrame(2 * Number(i) + 1, Buffer.from(text), true));
    const received = streams.map(() => '');
    const open = new Set(streams.keys());
    const reader = new SpdyFrameReader();
    for await (const chunk of socket as Duplex) {
      for (const frame of reader.read(chunk as Buffer)) {
        if (frame.type !== 'data') continue;
        const at = (frame.stream - 1) / 2;
        received[at] += frame.payload.toString();
        if (frame.isLast) open.delete(at);
      }
      if (open.size === 0) break;
    }
    return received;
  }

  function compress(deflate: ReturnType<typeof createDeflate>, headers: Record<string, string>): Promise<Buffer> {
    const word = (text: string): Buffer => Buffer.concat([Buffer.from([0, 0, 0, text.length]), Buffer.from(text)]);
    const entries = Object.entries(headers);
    const text = Buffer.concat([Buffer.from([0, 0, 0, entries.length]), ...entries.flatMap(([name, value]) => [word(name), word(value)])]);
    return new Promise((resolve) => {
      const chunks: Buffer[] = [];
      const collect = (chunk: Buffer): void => void chunks.push(chunk);
      deflate.on('data', collect);
      deflate.write(text);
      deflate.flush(constants.Z_SYNC_FLUSH, () => {
        deflate.off('data', collect);
        resolve(Buffer.concat(chunks));
      });
    });
  }

  it('run a command', async () => {
    const types = ['error', 'stdin', 'stdout', 'stderr'].map((streamtype) => ({ streamtype }));
    const path = `/exec/default/web/c?input=1&output=1&error=1&${commandOf('sh')}`;
    const [error, , stdout, stderr] = await exchange(path, 'v4.channel.k8s.io', types, { 1: 'echo a\necho b >&2\nexit 6\n' });
    expect({ stdout, stderr, error }).toEqual({ stdout: 'a\n', stderr: 'b\n', error: expect.stringContaining('"message":"6"') });
  });

  it.each([
    {
      name: 'the document of a web server',
      pod: 'said',
      port: '80',
      path: '/',
      want: /^HTTP\/1.1 200 OK\r\n[\s\S]*<title>Welcome to nginx!<\/title>/,
    },
    { name: 'the lack of a document', pod: 'said', port: '80', path: '/none', want: /^HTTP\/1.1 404 Not Found\r\n/ },
    { name: 'a document outside of the root', pod: 'said', port: '80', path: '/../../../../etc/hosts', want: /^HTTP\/1.1 404 / },
    {
      name: 'that no program answers on a declared port',
      pod: 'api',
      port: '8080',
      path: '/',
      want: /^HTTP\/1.1 501 [\s\S]*container c of pod default\/api is simulated by kubenest/,
    },
  ])('answer with $name', async ({ pod: name, port, path, want }) => {
    const types = ['error', 'data'].map((streamtype) => ({ streamtype, port, requestid: '0' }));
    const data = { 1: `GET ${path} HTTP/1.1\r\nHost: pod\r\n\r\n` };
    const [error, answer] = await exchange(`/portForward/default/${name}`, 'portforward.k8s.io', types, data);
    expect(error).toBe('');
    expect(answer).toMatch(want);
  });

  it('forget a stream of errors that the client cancelled', async () => {
    const { socket } = await upgrade('/portForward/default/web', {
      upgrade: 'SPDY/3.1',
      'x-stream-protocol-version': 'portforward.k8s.io',
    });
    const deflate = createDeflate({ dictionary });
    const headers = { port: '80', requestid: '0' };
    socket?.write(synStreamFrame(1, await compress(deflate, { streamtype: 'error', ...headers })));
    socket?.write(resetFrame(1, 5));
    socket?.write(synStreamFrame(3, await compress(deflate, { streamtype: 'data', ...headers })));
    const reader = new SpdyFrameReader();
    for await (const chunk of socket as Duplex) {
      const reset = [...reader.read(chunk as Buffer)].find(({ type }) => type === 'reset');
      if (reset) return expect(reset).toEqual({ type: 'reset', stream: 3 });
    }
    expect.unreachable();
  });

  it('refuse a port on which nothing listens', async () => {
    const types = ['error', 'data'].map((streamtype) => ({ streamtype, port: '8080', requestid: '0' }));
    const [error] = await exchange('/portForward/default/ticking', 'portforward.k8s.io', types, {});
    expect(error).toContain('an error occurred forwarding 8080 -> 8080');
  });

  it('forward a port', async () => {
    const types = ['error', 'data'].map((streamtype) => ({ streamtype, port: '80', requestid: '0' }));
    expect(await exchange('/portForward/default/web', 'portforward.k8s.io', types, { 1: 'ping' })).toEqual(['', 'ping']);
  });

  it('report a port without a local one', async () => {
    const types = ['error', 'data'].map((streamtype) => ({ streamtype, port: '81', requestid: '0' }));
    const [error] = await exchange('/portForward/default/web', 'portforward.k8s.io', types, {});
    expect(error).toBe('an error occurred forwarding 81 -> 81: pod web (web) has no local port for it, or the server does not allow it');
  });
});

it('a kubelet that stops ends the commands in it', async () => {
  port = await kubelets.start('node-2');
  pods.set('other', {
    ...(pods.get('web') as Pod),
    metadata: { name: 'other', namespace: 'default', uid: 'other' },
    spec: { ...(pods.get('web') as Pod).spec, nodeName: 'node-2' },
  } as Pod);
  const { socket } = await upgrade(`/exec/default/other/c?input=1&${commandOf('sh')}`, webSocket('v5.channel.k8s.io'));
  socket?.on('error', () => {});
  const closed = new Promise((resolve) => socket?.resume().once('close', resolve));
  await kubelets.stop('node-2');
  await closed;
});
