import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Duplex } from 'node:stream';
import { expect, it } from 'vitest';
import { WebSocketConnection } from './websocket-connection.ts';

const [isFinal, isMasked] = [0x80, 0x80];
const [continuation, text, close, ping] = [0x0, 0x1, 0x8, 0x9];
/** Returns a frame of a client, with a mask of zeros. */
const frame = (first: number, payload = '', length = payload.length): Buffer =>
  Buffer.concat([Buffer.from([first, isMasked | length, 0, 0, 0, 0]), Buffer.from(payload)]);

/** Returns the parts that a connection receives, each with `^` in front if it starts a message, and the code with which it closes. */
async function received(...frames: readonly Buffer[]): Promise<{ parts: string[]; closedWith: number }> {
  const sent: Buffer[] = [];
  const write = (bytes: Buffer, _encoding: string, done: () => void): void => {
    sent.push(bytes);
    done();
  };
  const socket = new Duplex({ read() {}, write });
  const parts: string[] = [];
  const request = { headers: { 'sec-websocket-key': 'k' } } as IncomingMessage;
  new WebSocketConnection(request, socket, Buffer.alloc(0), 'p', {
    *part(payload, isFirst) {
      yield;
      parts.push(`${isFirst ? '^' : ''}${payload.toString()}`);
    },
    closed() {},
  });
  const ended = once(socket, 'finish');
  for (const bytes of frames) socket.push(bytes);
  await ended;
  return { parts, closedWith: (sent.at(-1) as Buffer).readUInt16BE(0) };
}

it.each([
  ['a message', [frame(isFinal | text, 'ab')], ['^ab']],
  ['a message in frames', [frame(text, 'a'), frame(isFinal | continuation, 'b')], ['^a', 'b']],
  ['a message whose first frame is empty', [frame(text), frame(continuation), frame(isFinal | continuation, 'b')], ['^b']],
  ['an empty message, then another', [frame(isFinal | text), frame(isFinal | text, 'b')], ['^b']],
  ['a ping within a message', [frame(text, 'a'), frame(isFinal | ping), frame(isFinal | continuation, 'b')], ['^a', 'b']],
])('%s', async (_, frames, parts) => {
  expect(await received(...frames, frame(isFinal | close))).toEqual({ parts, closedWith: 1_000 });
});

it.each([
  ['an unmasked frame', Buffer.from([isFinal | text, 1, 0x61])],
  ['a continuation without a message', frame(isFinal | continuation, 'a')],
  ['a message within a message', Buffer.concat([frame(text, 'a'), frame(text, 'b')])],
  ['a ping in frames', frame(ping)],
  ['a ping of 126 bytes', frame(isFinal | ping, '', 126)],
  ['a compressed frame', frame(isFinal | 0x40 | text, 'a')],
  ['an unknown opcode', frame(isFinal | 0x3, 'a')],
])('%s ends the connection with 1002', async (_, bytes) => {
  expect((await received(bytes)).closedWith).toBe(1_002);
});
