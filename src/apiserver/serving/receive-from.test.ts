import { Buffer } from 'node:buffer';
import { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { oneStep, type Steps } from '#apimachinery/runtime/steps';
import { receiveFrom } from './receive-from.ts';

/** A socket whose client reads only when `readAll` is called. */
class UnreadSocket extends Duplex {
  #unread: (() => void)[] = [];

  constructor() {
    super({ writableHighWaterMark: 1_000 });
  }

  override _read(): void {}

  override _write(_chunk: Buffer, _encoding: string, done: () => void): void {
    this.#unread.push(done);
  }

  /** Reads what was written so far; returns false if there was nothing. */
  readAll(): boolean {
    const done = this.#unread.splice(0);
    for (const one of done) one();
    return done.length > 0;
  }
}

const turns = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i += 1) await nextTurn();
};

describe('a receiver', () => {
  it.each<{ name: string; chunks: number; parts: number }>([
    { name: 'many chunks', chunks: 100, parts: 1 },
    { name: 'one chunk of many parts', chunks: 1, parts: 100 },
  ])('answers no more than a client reads: $name', async ({ chunks, parts }) => {
    const socket = new UnreadSocket();
    let answered = 0;
    receiveFrom(socket, Buffer.alloc(0), function* (): Steps<void> {
      for (let i = 0; i < parts; i += 1) {
        answered += 1;
        socket.write(Buffer.alloc(600));
        yield;
      }
    });
    for (let i = 0; i < chunks; i += 1) socket.push(Buffer.alloc(600));
    await turns(200);
    expect(answered).toBeLessThan(5);
    await vi.waitFor(
      () => {
        socket.readAll();
        expect(answered).toBe(100);
      },
      { interval: 1 },
    );
    socket.destroy();
  });

  it('gets the bytes that arrived before it', async () => {
    const socket = new UnreadSocket();
    const received: string[] = [];
    receiveFrom(socket, Buffer.from('a'), (bytes) => oneStep(() => void received.push(bytes.toString())));
    socket.push(Buffer.from('b'));
    await vi.waitFor(() => expect(received.join('')).toBe('ab'));
    socket.destroy();
  });

  it('ends only its own connection when it fails', async () => {
    const socket = new UnreadSocket();
    receiveFrom(socket, Buffer.alloc(0), () =>
      oneStep(() => {
        throw new RangeError('Maximum call stack size exceeded');
      }),
    );
    socket.push(Buffer.from('a'));
    await vi.waitFor(() => expect(socket.destroyed).toBe(true));
  });
});
