import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { HeaderDecoder } from './header-decoder.ts';
import { HeaderEncoder } from './header-encoder.ts';

const flat = (block: Buffer, decoder: HeaderDecoder): string[] => {
  const fields: string[] = [];
  decoder.decode(Buffer.from(block), (name, value) => fields.push(name, value));
  return fields;
};

it('encodes a repeated field in one byte', () => {
  const encoder = new HeaderEncoder();
  const fields = ['Cache-Control', 'no-cache, private', 'Content-Type', 'application/json', 'X-Flow', 'a'];
  const first = encoder.encode(201, fields).length;
  expect(first).toBeGreaterThan(40);
  expect([...encoder.encode(201, fields)]).toEqual([0xc1, 0xc0, 0xbf, 0xbe]);
  expect([...encoder.encode(200, [])]).toEqual([0x88]);
});

it('does not add volatile and secret fields to the table', () => {
  const encoder = new HeaderEncoder();
  const fields = ['Audit-Id', 'x', 'Content-Length', '1', 'Set-Cookie', 'c'];
  expect(encoder.encode(200, fields).toString('hex')).toBe(encoder.encode(200, fields).toString('hex'));
  // RFC 7541, 6.2.3: intermediaries must not index it either.
  expect(encoder.encode(200, ['Set-Cookie', 'c']).toString('hex')).toBe('881f280163');
});

it('omits connection-specific fields of HTTP/1.1', () => {
  expect(flat(new HeaderEncoder().encode(200, ['Connection', 'close', 'A', 'b']), new HeaderDecoder(4096))).toEqual([
    ':status',
    '200',
    'a',
    'b',
  ]);
});

it('adds a Date unless the response has one', () => {
  const decoder = new HeaderDecoder(4096);
  const encoder = new HeaderEncoder();
  expect(flat(encoder.encode(200, [], 'today'), decoder)).toEqual([':status', '200', 'date', 'today']);
  expect(flat(encoder.encode(200, ['Date', 'then'], 'today'), decoder)).toEqual([':status', '200', 'date', 'then']);
});

it.each(['a\r\nb: c', 'a\0', 'ü\u0100'])('rejects an invalid value: %j', (value) => {
  const encoder = new HeaderEncoder();
  expect(() => encoder.encode(200, ['X-A', 'b', 'X-B', value])).toThrow('header X-B contains an invalid character');
  expect(flat(encoder.encode(200, ['X-A', 'b']), new HeaderDecoder(4096))).toEqual([':status', '200', 'x-a', 'b']);
});

it('round-trips through the decoder for any table content and size updates', () => {
  const value = fc.string({
    unit: fc
      .integer({ min: 0x20, max: 0xff })
      .filter((c) => c !== 0x7f && (c < 0x80 || c > 0x9f))
      .map((c) => String.fromCharCode(c)),
    maxLength: 300,
  });
  const name = fc.constantFrom('Content-Type', 'Audit-Id', 'X-A', 'X-B', 'Vary', 'Set-Cookie', 'Location', 'Cache-Control');
  const block = fc.record({
    status: fc.integer({ min: 100, max: 599 }),
    fields: fc.array(fc.tuple(name, value), { maxLength: 20 }),
    resize: fc.option(fc.constantFrom(0, 40, 200, 4096, 100_000), { freq: 5 }),
  });
  fc.assert(
    fc.property(fc.array(block, { maxLength: 30 }), (blocks) => {
      const encoder = new HeaderEncoder();
      const decoder = new HeaderDecoder(4096);
      for (const { status, fields, resize } of blocks) {
        if (resize !== null) encoder.resize(resize);
        const expected = fields.flatMap(([header, text]) => [header.toLowerCase(), text]);
        expect(flat(encoder.encode(status, fields.flat()), decoder)).toEqual([':status', String(status), ...expected]);
      }
    }),
  );
});
