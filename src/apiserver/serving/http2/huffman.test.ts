import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { codeLengths, codes, decodeHuffman } from './huffman.ts';

/** Encodes as RFC 7541, 5.2: concatenated codes, padded with ones to whole bytes. */
function encode(octets: Uint8Array): Buffer {
  const all = codes();
  let bits = '';
  for (const octet of octets) {
    const { code, length } = all[octet] as { code: number; length: number };
    bits += code.toString(2).padStart(length, '0');
  }
  bits = bits.padEnd(Math.ceil(bits.length / 8) * 8, '1');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((octet) => Number.parseInt(octet, 2)));
}

it('the codes form a complete prefix code', () => {
  expect(codeLengths.reduce((sum, length) => sum + 2 ** -length, 0)).toBe(1);
  // The first and the last code of appendix B, and the end of the string.
  expect([48, 249, 256].map((symbol) => codes()[symbol])).toEqual([
    { code: 0x0, length: 5 },
    { code: 0xffffffe, length: 28 },
    { code: 0x3fffffff, length: 30 },
  ]);
});

it('decodes encoded strings', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (octets) => {
      const encoded = encode(octets);
      expect(decodeHuffman(encoded, 0, encoded.length)).toBe(Buffer.from(octets).toString('latin1'));
    }),
  );
});
