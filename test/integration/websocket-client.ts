import { once } from 'node:events';
import tls from 'node:tls';
import type { TestCluster } from '#testing/index';

export interface Frame {
  readonly opcode: number;
  readonly payload: Buffer;
}

/** Response to a handshake, with all frames until the connection ended. */
export interface WebSocketAnswer {
  readonly status: string;
  /** Header lines in order, without the status line. */
  readonly headers: readonly string[];
  readonly frames: readonly Frame[];
  /** Body of a rejection. */
  readonly body: string;
}

export const handshake: Readonly<Record<string, string>> = {
  Upgrade: 'websocket',
  Connection: 'Upgrade',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
  'Sec-WebSocket-Version': '13',
  Origin: 'https://example.com',
};

/**
 * Opens a WebSocket and reads it to its end. `send` lists the data chunks to send immediately after the handshake; `opened` is called with
 * the response to it.
 */
export async function askWebSocket(
  cluster: TestCluster,
  path: string,
  headers: Readonly<Record<string, string | undefined>> = {},
  send: readonly Buffer[] = [],
  opened: () => unknown = () => {},
): Promise<WebSocketAnswer> {
  const { hostname, port } = new URL(cluster.url as string);
  const ca = cluster.certificateAuthority;
  const socket = tls.connect({ host: hostname, port: Number(port), ca, servername: 'localhost', ALPNProtocols: ['http/1.1'] });
  await once(socket, 'secureConnect');
  const sent = { Host: 'localhost', Authorization: `Bearer ${cluster.token('admin')}`, ...handshake, ...headers };
  const lines = Object.entries(sent).flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}`]));
  socket.write([`GET ${path} HTTP/1.1`, ...lines, '', ''].join('\r\n'));
  for (const piece of send) socket.write(piece);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) {
    if (chunks.push(chunk as Buffer) === 1) opened();
  }
  return answerOf(Buffer.concat(chunks));
}

function answerOf(bytes: Buffer): WebSocketAnswer {
  const end = bytes.indexOf('\r\n\r\n');
  const [first = '', ...headers] = bytes.toString('latin1', 0, end).split('\r\n');
  const rest = bytes.subarray(end + 4);
  const status = first.replace('HTTP/1.1 ', '');
  return status.startsWith('101 ')
    ? { status, headers, frames: framesOf(rest), body: '' }
    : { status, headers, frames: [], body: rest.toString() };
}

function framesOf(bytes: Buffer): Frame[] {
  const frames: Frame[] = [];
  for (let at = 0; at < bytes.length; ) {
    const short = bytes[at + 1] as number;
    const start = at + (short === 127 ? 10 : short === 126 ? 4 : 2);
    const length = short === 127 ? Number(bytes.readBigUInt64BE(at + 2)) : short === 126 ? bytes.readUInt16BE(at + 2) : short;
    frames.push({ opcode: bytes[at] as number, payload: bytes.subarray(start, start + length) });
    at = start + length;
  }
  return frames;
}

/** Returns a masked frame, as clients send it. */
export function masked(opcode: number, payload: string | Buffer): Buffer {
  const bytes = Buffer.from(payload);
  const mask = Buffer.from([1, 2, 3, 4]);
  const head =
    bytes.length < 126 ? [0x80 | opcode, 0x80 | bytes.length] : [0x80 | opcode, 0x80 | 126, bytes.length >> 8, bytes.length & 0xff];
  return Buffer.concat([Buffer.from(head), mask, bytes.map((byte, i) => byte ^ (mask[i % 4] as number))]);
}
