import { Buffer } from 'node:buffer';
import { setImmediate as turnEnds } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { type WorkerCommand, commandKinds } from './messages.ts';
import { Outbox } from './outbox.ts';
import { RemoteStream } from './remote-stream.ts';

const highWater = 100;

function stream(): { stream: RemoteStream; entries: WorkerCommand[] } {
  const entries: WorkerCommand[] = [];
  return { stream: new RemoteStream(new Outbox((batch) => entries.push(...batch.entries)), 7, highWater), entries };
}

it('is full at the high-water mark and drains once at half of it', () => {
  const one = stream();
  let drained = 0;
  one.stream.onDrain(() => {
    drained += 1;
  });
  expect([one.stream.write(Buffer.alloc(99)), one.stream.write(Buffer.alloc(1)), one.stream.pendingBytes]).toEqual([true, false, 100]);
  one.stream.taken(49);
  expect([drained, one.stream.pendingBytes]).toEqual([0, 51]);
  one.stream.taken(1);
  one.stream.taken(10);
  expect([drained, one.stream.pendingBytes]).toEqual([1, 40]);
});

it.each<{ name: string; acts: ('write' | 'end' | 'abort' | 'close')[]; want: number[] }>([
  { name: 'nothing follows an end', acts: ['end', 'write', 'end'], want: [commandKinds.end] },
  { name: 'an ended stream can be aborted', acts: ['end', 'abort', 'abort'], want: [commandKinds.end, commandKinds.abort] },
  { name: 'sends nothing after the client has disconnected', acts: ['close', 'write', 'end', 'abort'], want: [] },
])('$name', async ({ acts, want }) => {
  const one = stream();
  for (const act of acts) one.stream[act](Buffer.from('a'));
  await turnEnds();
  expect(one.entries.map(([kind]) => kind)).toEqual(want);
});
