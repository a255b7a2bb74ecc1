import { Buffer } from 'node:buffer';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { ResponseStream } from '#apiserver/request/exchange';
import { writeAsMade } from './write-as-made.ts';
import { sliceBytes, slicesOfTurn } from './write-slices.ts';

/** A client whose reads are controlled by the test. */
class Client implements ResponseStream {
  readonly written: number[] = [];
  readonly pendingBytes = 0;
  /** True if it reads everything immediately. */
  isFast = false;
  closed = false;
  how = 'open';
  #drained = (): void => undefined;
  #left = (): void => undefined;

  write({ length }: Buffer): boolean {
    this.written.push(length);
    if (this.isFast) queueMicrotask(() => this.#drained());
    return length < sliceBytes;
  }
  end(): void {
    this.how = 'ended';
  }
  abort(): void {
    this.how = 'broken off';
  }
  onDrain(listener: () => void): void {
    this.#drained = listener;
  }
  onClose(listener: () => void): void {
    this.#left = listener;
  }
  async take(): Promise<void> {
    this.#drained();
    await nextTurn();
  }
  leave(): void {
    this.closed = true;
    this.#left();
  }
}

/** Yields three pieces and records in `made` which were requested. */
async function* pieces(made: string[]): AsyncGenerator<Buffer, void> {
  try {
    for (const [name, bytes] of [
      ['head', 10],
      ['run', 2 * sliceBytes],
      ['end', 20],
    ] as const) {
      made.push(name);
      await nextTurn();
      yield Buffer.alloc(bytes);
    }
  } finally {
    made.push('over');
  }
}

it('requests a piece when the previous ones are sent', async () => {
  const client = new Client();
  const made: string[] = [];
  const written = writeAsMade(client, client, pieces(made));
  for (let turns = 0; turns < 5; turns += 1) await nextTurn();
  expect([client.written, made]).toEqual([
    [10, sliceBytes],
    ['head', 'run'],
  ]);
  await client.take();
  expect([client.written, made]).toEqual([
    [10, sliceBytes, sliceBytes],
    ['head', 'run'],
  ]);
  await client.take();
  await written;
  expect([client.written, made, client.how]).toEqual([[10, sliceBytes, sliceBytes, 20], ['head', 'run', 'end', 'over'], 'ended']);
});

it('yields to the event loop, even for a fast client', async () => {
  const client = new Client();
  client.isFast = true;
  const written = writeAsMade(
    client,
    client,
    (async function* () {
      yield Buffer.alloc(10 * sliceBytes);
    })(),
  );
  const ofTurns: number[] = [];
  for (let turns = 0; turns < 3; turns += 1) {
    const before = client.written.length;
    await nextTurn();
    ofTurns.push(client.written.length - before);
  }
  await written;
  expect(ofTurns.every((slices) => slices <= slicesOfTurn)).toBe(true);
  expect([client.written.length, client.how]).toEqual([10, 'ended']);
});

it('stops if the client disconnects', async () => {
  const client = new Client();
  const made: string[] = [];
  const written = writeAsMade(client, client, pieces(made));
  for (let turns = 0; turns < 5; turns += 1) await nextTurn();
  client.leave();
  await written;
  expect([client.written, made, client.how]).toEqual([[10, sliceBytes], ['head', 'run', 'over'], 'open']);
});

it('aborts the response if a piece fails', async () => {
  const client = new Client();
  const failing = (async function* () {
    yield Buffer.alloc(10);
    await nextTurn();
    throw new Error('no run');
  })();
  await expect(writeAsMade(client, client, failing)).rejects.toThrow('no run');
  expect([client.written, client.how]).toEqual([[10], 'broken off']);
});
