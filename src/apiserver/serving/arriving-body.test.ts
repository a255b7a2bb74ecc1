import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { setImmediate as turnEnds } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { ArrivingBody } from './arriving-body.ts';

it('merges bytes that arrive between reads', async () => {
  let taken = 0;
  const body = new ArrivingBody((bytes) => {
    taken += bytes;
  });
  for (let i = 0; i < 1_000; i += 1) body.data(Buffer.from('x'));
  expect([body.pendingBytes, body.readableLength, taken]).toEqual([1_000, 0, 0]);
  const chunks: number[] = [];
  body.on('data', (chunk: Buffer) => chunks.push(chunk.length));
  await turnEnds();
  expect([chunks, taken]).toEqual([[1_000], 1_000]);
  for (let i = 0; i < 1_000; i += 1) body.data(Buffer.from('y'));
  body.end();
  await once(body, 'end');
  expect(chunks.reduce((sum, length) => sum + length, 0)).toBe(2_000);
  expect(chunks.length).toBeLessThan(5);
});

it('holds at most one chunk and the merged bytes while its reader is paused', async () => {
  const body = new ArrivingBody(() => undefined);
  const chunks: string[] = [];
  body.on('data', (chunk: Buffer) => {
    chunks.push(chunk.toString());
    body.pause();
  });
  body.data(Buffer.from('first'));
  await turnEnds();
  for (const part of ['a', 'b', 'c']) {
    body.data(Buffer.from(part));
    await turnEnds();
  }
  expect(chunks).toEqual(['first']);
  body.end();
  body.removeAllListeners('data');
  expect(await text(body)).toBe('abc');
});

it('ends without data', async () => {
  const body = new ArrivingBody(() => undefined);
  body.end();
  expect(await text(body)).toBe('');
});

it('closes without an end if the client disconnects', async () => {
  const body = new ArrivingBody(() => undefined);
  body.data(Buffer.from('half'));
  body.gone();
  await once(body, 'close');
  expect([body.readableEnded, body.errored]).toEqual([false, null]);
});
