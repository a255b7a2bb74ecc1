import { Buffer } from 'node:buffer';
import { PassThrough } from 'node:stream';
import { setImmediate as turnEnds } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { CreditedSource } from './credited-source.ts';
import { windowBytes } from './messages.ts';

function credited(): { source: PassThrough; credit: CreditedSource; seen: { bytes: number; ended: boolean } } {
  const source = new PassThrough();
  const seen = { bytes: 0, ended: false };
  const credit = new CreditedSource(source, {
    data: (chunk) => {
      seen.bytes += chunk.length;
    },
    end: () => {
      seen.ended = true;
    },
  });
  return { source, credit, seen };
}

const quarter = Buffer.alloc(windowBytes / 4);

it('forwards a window and then the granted bytes', async () => {
  const { source, credit, seen } = credited();
  for (let i = 0; i < 8; i++) source.write(quarter);
  source.end();
  await turnEnds();
  expect(seen).toEqual({ bytes: windowBytes, ended: false });
  credit.grant(1);
  await turnEnds();
  expect(seen).toEqual({ bytes: windowBytes + quarter.length, ended: false });
  credit.grant(windowBytes);
  await turnEnds();
  expect(seen).toEqual({ bytes: 2 * windowBytes, ended: true });
});

it('reads discarded bytes without forwarding them', async () => {
  const { source, credit, seen } = credited();
  for (let i = 0; i < 8; i++) source.write(quarter);
  source.end();
  await turnEnds();
  credit.discard();
  await turnEnds();
  expect([seen, source.readableEnded]).toEqual([{ bytes: windowBytes, ended: false }, true]);
});
