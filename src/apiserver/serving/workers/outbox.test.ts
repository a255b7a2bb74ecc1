import { Buffer } from 'node:buffer';
import { setImmediate as turnEnds } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { weightOf } from './backlog.ts';
import { type Batch, Outbox, partsOf } from './outbox.ts';

function sent(): { outbox: Outbox<string>; batches: Batch<string>[] } {
  const batches: Batch<string>[] = [];
  return { outbox: new Outbox((batch, transfer) => batches.push(structuredClone(batch, { transfer: [...transfer] }))), batches };
}

it('sends the entries of one event loop iteration as one batch', async () => {
  const { outbox, batches } = sent();
  outbox.push('a');
  outbox.push('b');
  expect([batches.length, outbox.turn]).toEqual([0, 0]);
  await turnEnds();
  outbox.push('c');
  await turnEnds();
  expect(batches.map(({ entries }) => entries)).toEqual([['a', 'b'], ['c']]);
});

it.each<{ name: string; parts: Buffer[]; own: number }>([
  { name: 'none', parts: [], own: 0 },
  { name: 'small byte strings share a buffer', parts: [Buffer.from('ab'), Buffer.from('cde')], own: 0 },
  { name: 'empty ones', parts: [Buffer.alloc(0)], own: 0 },
  { name: 'large byte strings have buffers of their own', parts: [Buffer.from('a'), Buffer.alloc(100_000, 'b'), Buffer.from('c')], own: 1 },
])('$name', async ({ parts, own }) => {
  const { outbox, batches } = sent();
  const places = parts.map((part) => outbox.part(part));
  outbox.push('x');
  await turnEnds();
  const [batch] = batches as [Batch<string>];
  for (const keeps of [true, false]) {
    const received = partsOf(batch, keeps);
    expect(places.map((place) => received[place]?.toString())).toEqual(parts.map(String));
  }
  expect(batch.parts.filter((part) => typeof part !== 'number').length).toBe(own);
});

it('sends shared memory without a copy and without weight', async () => {
  const { outbox, batches } = sent();
  const memory = Buffer.from(new SharedArrayBuffer(100_000)).fill('a');
  const places = [outbox.part(memory.subarray(5, 8)), outbox.part(Buffer.from('b'))];
  outbox.push('x');
  await turnEnds();
  const [batch] = batches as [Batch<string>];
  memory.write('new', 5);
  const received = partsOf(batch, true);
  expect(places.map((place) => received[place]?.toString())).toEqual(['new', 'b']);
  expect(batch.weight).toBe(weightOf(1, 1));
});

it('sends a byte string of several entries once and does not change it', async () => {
  const { outbox, batches } = sent();
  const shared = Buffer.from('shared');
  expect([outbox.part(shared), outbox.part(Buffer.from('other')), outbox.part(shared)]).toEqual([0, 1, 0]);
  outbox.push('x');
  await turnEnds();
  expect([batches[0]?.parts.length, shared.toString()]).toEqual([2, 'shared']);
  expect(outbox.part(shared)).toBe(0);
});

it('a kept byte string does not retain its batch', async () => {
  const { outbox, batches } = sent();
  outbox.part(Buffer.from('a'));
  outbox.part(Buffer.alloc(30_000, 'b'));
  outbox.push('x');
  await turnEnds();
  const batch = batches[0] as Batch<string>;
  expect(partsOf(batch, false)[0]?.buffer).toBe(batch.small);
  expect(partsOf(batch, true)[0]?.buffer).not.toBe(batch.small);
});
