import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { HeaderDecoder } from './header-decoder.ts';
import { errorCodes } from './protocol.ts';

function decode(decoder: HeaderDecoder, hex: string): string[] {
  const fields: string[] = [];
  decoder.decode(Buffer.from(hex.replaceAll(' ', ''), 'hex'), (name, value) => fields.push(`${name}: ${value}`));
  return fields;
}

describe('the examples of RFC 7541, appendix C', () => {
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
      name: 'C.3: requests as they are',
      bytes: 4096,
      blocks: [
        '828684410f7777772e6578616d706c652e636f6d',
        '828684be58086e6f2d6361636865',
        '828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565',
      ],
      fields: requests,
    },
    {
      name: 'C.4: requests in Huffman code',
      bytes: 4096,
      blocks: ['828684418cf1e3c2e5f23a6ba0ab90f4ff', '828684be5886a8eb10649cbf', '828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf'],
      fields: requests,
    },
    {
      name: 'C.6: answers, of which a small table loses the oldest',
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

it('a table that is made smaller loses its entries', () => {
  const decoder = new HeaderDecoder(4096);
  expect(decode(decoder, '4001610162')).toEqual(['a: b']);
  expect(decode(decoder, 'be')).toEqual(['a: b']);
  expect(() => decode(decoder, '20be')).toThrow('no entry has this number');
});

it('an entry that is too large for the table empties it', () => {
  const decoder = new HeaderDecoder(40);
  expect(decode(decoder, '4001610162')).toEqual(['a: b']);
  expect(decode(decoder, `400161${'0a'}${'78'.repeat(10)}`)).toEqual([`a: ${'x'.repeat(10)}`]);
  expect(() => decode(decoder, 'be')).toThrow('no entry has this number');
});

it('keeps the newest of many', () => {
  const decoder = new HeaderDecoder(40 * 3);
  for (let i = 100; i < 999; i += 1) decode(decoder, `400161${'03'}${Buffer.from(String(i)).toString('hex')}`);
  expect(decode(decoder, 'bebfc0')).toEqual(['a: 998', 'a: 997', 'a: 996']);
  expect(() => decode(decoder, 'c1')).toThrow('no entry has this number');
});

it.each([
  { name: 'the entry 0', block: '80', reason: 'no entry has the number 0' },
  { name: 'an entry that is not there', block: 'be', reason: 'no entry has this number' },
  { name: 'a name that is not there', block: '7f0001', reason: 'no entry has this number' },
  { name: 'a number without its end', block: 'ff80', reason: 'a number is cut off' },
  { name: 'a number beyond all', block: 'ffffffffffff7f', reason: 'a number is too large' },
  { name: 'a name without its value', block: '400161', reason: 'a text is missing' },
  { name: 'a text without its end', block: '40016105', reason: 'a text is cut off' },
  { name: 'a table larger than allowed', block: '3fe21f', reason: 'a table is larger than it may be' },
  { name: 'a table resized behind a field', block: '8220', reason: 'a table is resized in the middle of a block' },
  { name: 'Huffman code filled with zeros', block: '4001618118', reason: 'a text is no Huffman code' },
  { name: 'Huffman code filled with a whole octet', block: '40016183' + '1fffff', reason: 'a text is no Huffman code' },
  { name: 'the end of the string in it', block: '40016184ffffffff', reason: 'a text is no Huffman code' },
])('refuses $name', ({ block, reason }) => {
  expect(() => decode(new HeaderDecoder(4096), block)).toThrow(
    expect.objectContaining({ code: errorCodes.compressionError, message: expect.stringContaining(reason) }),
  );
});
