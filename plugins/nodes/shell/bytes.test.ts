import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { bytesOfText, textOfBytes } from './bytes.ts';

it('any bytes are the same after they were a text', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(bytesOfText(textOfBytes(bytes))).toEqual(Buffer.from(bytes));
    }),
  );
});

it('any text has its bytes in UTF-8', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('a', '\0', 'ä', '€', '😀')).map((characters) => characters.join('')),
      (text) => {
        expect(bytesOfText(text)).toEqual(Buffer.from(text));
        expect(textOfBytes(Buffer.from(text))).toBe(text);
      },
    ),
  );
});

it('text between bytes that are not UTF-8 is readable', () => {
  const bytes = Buffer.concat([Buffer.from('ä€😀'), Buffer.from([0xff, 0xed, 0xa0, 0x80]), Buffer.from('b'), Buffer.from([0xf0, 0x9f])]);
  expect(textOfBytes(bytes)).toBe('ä€😀\udcff\udced\udca0\udc80b\udcf0\udc9f');
  expect(bytesOfText(textOfBytes(bytes))).toEqual(bytes);
});

it('parts of bytes that are joined as texts are the bytes joined', () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.uint8Array(), (a, b) => {
      expect(bytesOfText(textOfBytes(a) + textOfBytes(b))).toEqual(Buffer.concat([a, b]));
    }),
  );
});
