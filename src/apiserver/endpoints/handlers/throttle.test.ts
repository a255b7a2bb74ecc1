import { Buffer } from 'node:buffer';
import { expect, test } from 'vitest';
import { Throttle } from './throttle.ts';

test('throttles to the given bytes per second and keeps all bytes in order', async () => {
  const sent = Buffer.from(Array.from({ length: 600 }, (_, i) => i % 251));
  const throttle = new Throttle(2_000);
  const began = performance.now();
  throttle.write(sent.subarray(0, 400));
  throttle.end(sent.subarray(400));
  const came: Buffer[] = [];
  for await (const bytes of throttle) came.push(bytes as Buffer);
  expect(Buffer.concat(came).equals(sent)).toBe(true);
  // The first slice of 200 bytes passes immediately; the others wait a tenth of a second each.
  expect(performance.now() - began).toBeGreaterThan(190);
});

test('a destroyed stream leaves no timer behind', async () => {
  const throttle = new Throttle(10);
  throttle.write(Buffer.alloc(100));
  throttle.destroy();
  await expect(throttle.toArray()).rejects.toThrow();
});
