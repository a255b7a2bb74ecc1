import { Buffer } from 'node:buffer';
import { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type WebSocketRequest, acceptWebSocket, agreeToRead } from './websocket.ts';

/** A connection whose client reads nothing, or all. */
class Connection extends Duplex {
  written = 0;

  constructor(private readonly isRead: boolean) {
    super();
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.written += chunk.length;
    if (this.isRead) done();
  }
}

const handshake = { 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==', 'sec-websocket-version': '13' };

/** Opens a WebSocket, sends as many pings, and returns the bytes that are written or wait after so many turns of the event loop. */
async function answersTo(connection: Connection, pings: number, turns: number): Promise<number> {
  const exchange = { headers: handshake, takeOver: () => connection };
  acceptWebSocket({ method: 'GET', exchange } as unknown as WebSocketRequest, agreeToRead);
  await nextTurn();
  const start = connection.written + connection.writableLength;
  const ping = Buffer.concat([Buffer.from([0x89, 0x80 | 125, 0, 0, 0, 0]), Buffer.alloc(125)]);
  connection.push(Buffer.concat(Array.from({ length: pings }, () => ping)));
  for (let turn = 0; turn < turns; turn += 1) await nextTurn();
  return connection.written + connection.writableLength - start;
}

describe('pings of a WebSocket', () => {
  it('are not answered while the client does not read', async () => {
    const connection = new Connection(false);
    expect(await answersTo(connection, 100_000, 100)).toBeLessThan(2 * connection.writableHighWaterMark);
    connection.destroy();
  });

  it('are answered in several turns of the event loop', async () => {
    const pings = 200_000;
    const connection = new Connection(true);
    const early = await answersTo(connection, pings, 1);
    expect(early).toBeGreaterThan(0);
    expect(early).toBeLessThan((pings * 127) / 2);
    connection.destroy();
  });
});
