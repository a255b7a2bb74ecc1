import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { BodyTooLargeError, ClientGoneError } from '#apiserver/request/exchange';
import { RemoteBody } from './remote-body.ts';

const window = 10;
const limit = 20;

function body(): { body: RemoteBody; granted: number[] } {
  const granted: number[] = [];
  return { body: new RemoteBody(window, (bytes) => granted.push(bytes)), granted };
}

describe('read', () => {
  it.each<{ name: string; expected: number; before: string[]; after: string[]; want: string; granted: number[] }>([
    { name: 'nothing', expected: 0, before: [], after: [], want: '', granted: [limit] },
    { name: 'bytes that arrived before the call', expected: 4, before: ['ab', 'cd'], after: [], want: 'abcd', granted: [] },
    { name: 'bytes that arrive later, within the window', expected: 4, before: ['ab'], after: ['cd'], want: 'abcd', granted: [] },
    { name: 'more than the window', expected: 15, before: ['a'.repeat(10)], after: ['bbbbb'], want: 'aaaaaaaaaabbbbb', granted: [limit] },
    { name: 'unknown length', expected: 0, before: ['ab'], after: ['c'], want: 'abc', granted: [limit] },
  ])('$name', async ({ expected, before, after, want, granted }) => {
    const one = body();
    for (const chunk of before) one.body.data(Buffer.from(chunk));
    if (before.length > 0 && after.length === 0) one.body.end();
    const whole = one.body.read(expected, limit);
    for (const chunk of after) one.body.data(Buffer.from(chunk));
    one.body.end();
    expect([String(await whole), one.granted]).toEqual([want, granted]);
  });

  it.each<{ name: string; expected: number; come: (one: RemoteBody) => void; want: typeof BodyTooLargeError | typeof ClientGoneError }>([
    { name: 'whose Content-Length exceeds the limit', expected: limit + 1, come: () => {}, want: BodyTooLargeError },
    { name: 'that exceeds the limit', expected: 0, come: (one) => one.data(Buffer.alloc(limit + 1)), want: BodyTooLargeError },
    { name: 'whose client disconnects', expected: 0, come: (one) => one.close(), want: ClientGoneError },
  ])('rejects a body $name', async ({ expected, come, want }) => {
    const one = body();
    const whole = one.body.read(expected, limit);
    come(one.body);
    await expect(whole).rejects.toThrow(want);
  });

  it('rejects a body whose client has disconnected before', async () => {
    const one = body();
    one.body.close();
    await expect(one.body.read(0, limit)).rejects.toThrow(ClientGoneError);
  });
});

describe('open', () => {
  it('grants as many bytes as were read, and ends', async () => {
    const one = body();
    one.body.data(Buffer.from('ab'));
    const read = text(one.body.open());
    one.body.data(Buffer.from('cde'));
    await expect.poll(() => one.granted.reduce((sum, bytes) => sum + bytes, 0)).toBe(5);
    one.body.end();
    expect(await read).toBe('abcde');
  });

  it('closes without an end and without an error when the client disconnects', async () => {
    const one = body();
    const readable = one.body.open();
    one.body.close();
    await once(readable, 'close');
    expect([readable.readableEnded, readable.errored]).toEqual([false, null]);
  });
});
