import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeString } from './json.ts';
import { JsonWriter } from './json-writer.ts';

const cold = new JsonWriter();
const warm = new JsonWriter();
for (let texts = 0; texts < 20_000; texts += 1) warm.text('x');

const texts = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom('', '<', '"', '\\', '\u007f', '\u0080', '\u2028', 'é', '\ud800', '😀', 'a'.repeat(32), 'a'.repeat(33), 'é'.repeat(5_000)),
);

function written(writer: JsonWriter, write: (to: JsonWriter) => void): string {
  writer.begin();
  write(writer);
  const text = writer.toString();
  expect(writer.toBuffer().toString()).toBe(text);
  return text;
}

test('the engine and the loop write strings equally', () => {
  fc.assert(
    fc.property(texts, texts, (first, second) => {
      for (const writer of [cold, warm]) {
        const strings = written(writer, (to) => {
          to.string(first);
          to.string(second);
        });
        expect(strings).toBe(encodeString(first) + encodeString(second));
        expect(written(writer, (to) => to.text(encodeString(first)))).toBe(encodeString(first));
      }
    }),
    { numRuns: 2_000 },
  );
});

test('rewound, closed and oversized texts', () => {
  for (const writer of [cold, warm]) {
    const text = written(writer, (to) => {
      to.byte(0x2c);
      const start = to.at;
      to.close(start, 0x7b, 0x7d);
      expect(to.isPair(start, 0x7b, 0x7d)).toBe(true);
      to.rewind(start);
      to.text(',1');
      to.text(',2');
      to.close(start, 0x5b, 0x5d);
      for (let at = 0; at < 3; at += 1) to.quoted('b'.repeat(1_000_000));
    });
    expect(text).toBe(`,[1,2]${`"${'b'.repeat(1_000_000)}"`.repeat(3)}`);
    expect(written(writer, (to) => to.text('again'))).toBe('again');
  }
});

test('does not overwrite a large text of announced size', () => {
  const part = Buffer.alloc(3_000_000, 'b');
  cold.begin(part.length);
  cold.bytes(part);
  const first = cold.toBuffer();
  expect(written(cold, (to) => to.text('a'.repeat(70_000)))).toBe('a'.repeat(70_000));
  expect(first.equals(part)).toBe(true);
  expect(first.buffer.byteLength).toBeLessThan(part.length * 1.05);
});
