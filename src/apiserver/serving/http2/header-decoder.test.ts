import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { HeaderDecoder } from './header-decoder.ts';
import { errorCodes } from './protocol.ts';

function decode(decoder: HeaderDecoder, hex: string): string[] {
  const fields: string[] = [];
  decoder.decode(Buffer.from(hex.replaceAll(' ', ''), 'hex'), (name, value) => fields.push(`${name}: ${value}`));
  return fields;
}

describe('examples of RFC 7541, appendix C', () => {
  const requests = [
    [':method: GET', ':scheme: http', ':path: /', ':authority: www.example.com'],
    [':method: GET', ':scheme: http', ':path: /', ':authority: www.example.com', 'cache-control: no-cache'],
    [':method: GET', ':scheme: https', ':path: /index.html', ':authority: www.example.com', 'custom-key: custom-value'],
  ];
  const date = (second: number) => `date: Mon, 21 Oct 2013 20:13:${second} GMT`;
  const location = 'location: https://www.example.com';
  const cookie = 'set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1';
  const answers = [
    [':status: 302', 'cache-control: private', date(21), location],
    [':status: 307', 'cache-control: private', date(21), location],
    [':status: 200', 'cache-control: private', date(22), location, 'content-encoding: gzip', cookie],
  ];

  it.each([
    {
      name: 'C.3: requests without Huffman coding',
      bytes: 4096,
      blocks: [
        '828684410f7777772e6578616d706c652e636f6d',
        '828684be58086e6f2d6361636865',
        '828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565',
      ],
      fields: requests,
    },
    {
      name: 'C.4: requests with Huffman coding',
      bytes: 4096,
      blocks: ['828684418cf1e3c2e5f23a6ba0ab90f4ff', '828684be5886a8eb10649cbf', '828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf'],
      fields: requests,
    },
    {
      name: 'C.6: responses with eviction from a small table',
      bytes: 256,
      blocks: [
        '488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad171863c78f0b97c8e9ae82ae43d3',
        '4883640effc1c0bf',
        '88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab77ad94e7821dd7f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007',
      ],
      fields: answers,
    },
  ])('$name', ({ bytes, blocks, fields }) => {
    const decoder = new HeaderDecoder(bytes);
    expect(blocks.map((block) => decode(decoder, block))).toEqual(fields);
  });
});

it('shrinking the table evicts entries', () => {
  const decoder = new HeaderDecoder(4096);
  expect(decode(decoder, '4001610162')).toEqual(['a: b']);
  expect(decode(decoder, 'be')).toEqual(['a: b']);
  expect(() => decode(decoder, '20be')).toThrow('unknown index');
});

it('an entry larger than the table empties it', () => {
  const decoder = new HeaderDecoder(40);
  expect(decode(decoder, '4001610162')).toEqual(['a: b']);
  expect(decode(decoder, `400161${'0a'}${'78'.repeat(10)}`)).toEqual([`a: ${'x'.repeat(10)}`]);
  expect(() => decode(decoder, 'be')).toThrow('unknown index');
});

it('keeps the newest entries', () => {
  const decoder = new HeaderDecoder(40 * 3);
  for (let i = 100; i < 999; i += 1) decode(decoder, `400161${'03'}${Buffer.from(String(i)).toString('hex')}`);
  expect(decode(decoder, 'bebfc0')).toEqual(['a: 998', 'a: 997', 'a: 996']);
  expect(() => decode(decoder, 'c1')).toThrow('unknown index');
});

it.each([
  { name: 'index 0', block: '80', reason: 'invalid index 0' },
  { name: 'an unknown index', block: 'be', reason: 'unknown index' },
  { name: 'an unknown index of a name', block: '7f0001', reason: 'unknown index' },
  { name: 'a truncated integer', block: 'ff80', reason: 'truncated integer' },
  { name: 'an overflowing integer', block: 'ffffffffffff7f', reason: 'integer is too large' },
  { name: 'a name without a value', block: '400161', reason: 'missing string' },
  { name: 'a truncated string', block: '40016105', reason: 'truncated string' },
  { name: 'a table size above the limit', block: '3fe21f', reason: 'table size exceeds the limit' },
  { name: 'a table size update after a field', block: '8220', reason: 'table size update within a block' },
  { name: 'Huffman code padded with zeros', block: '4001618118', reason: 'invalid Huffman code' },
  { name: 'Huffman code with a whole byte of padding', block: '40016183' + '1fffff', reason: 'invalid Huffman code' },
  { name: 'Huffman code with the end-of-string symbol', block: '40016184ffffffff', reason: 'invalid Huffman code' },
])('rejects $name', ({ block, reason }) => {
  expect(() => decode(new HeaderDecoder(4096), block)).toThrow(
    expect.objectContaining({ code: errorCodes.compressionError, message: expect.stringContaining(reason) }),
  );
});
