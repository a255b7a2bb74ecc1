import { Buffer } from 'node:buffer';
import { crc32, gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { combineCrc32, gzipPieces } from './gzip-pieces.ts';

it('decompresses to the original text for any split into pieces', async () => {
  const piece = fc.oneof(
    fc.uint8Array({ maxLength: 50 }),
    fc.integer({ min: 1, max: 20_000 }).map((length) => Buffer.from('{"a":"b"},'.repeat(length).slice(0, length))),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 6 }), async (texts) => {
      const pieces = texts.map((text) => Buffer.from(text));
      const whole = Buffer.concat(pieces);
      for (let time = 0; time < 2; time++) expect(gunzipSync(Buffer.concat(await gzipPieces(pieces))).equals(whole)).toBe(true);
    }),
    { numRuns: 50 },
  );
});

it('compresses each piece once', async () => {
  const piece = Buffer.alloc(100_000, 'abc');
  const [, blocks] = await gzipPieces([piece]);
  const [, , again] = await gzipPieces([Buffer.from('['), piece]);
  expect(again).toBe(blocks);
  expect(blocks?.length).toBeLessThan(2_000);
});

it('combines checksums to that of the concatenation', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.uint8Array({ maxLength: 300 }), (first, second) => {
      expect(combineCrc32(crc32(first), crc32(second), second.length)).toBe(crc32(Buffer.concat([first, second])));
    }),
  );
});
