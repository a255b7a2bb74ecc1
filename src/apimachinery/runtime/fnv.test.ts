import { Buffer } from 'node:buffer';
import { expect, it } from 'vitest';
import { fnv128a, fnv32, fnv32a, fnv64, fnv64a } from './fnv.ts';

// Go: hash/fnv/fnv_test.go.
it.each([
  { text: '', in32: 0x811c9dc5, in32a: 0x811c9dc5, in64: 0xcbf29ce484222325n, in64a: 0xcbf29ce484222325n },
  { text: 'a', in32: 0x050c5d7e, in32a: 0xe40c292c, in64: 0xaf63bd4c8601b7ben, in64a: 0xaf63dc4c8601ec8cn },
  { text: 'ab', in32: 0x70772d38, in32a: 0x4d2505ca, in64: 0x08326707b4eb37b8n, in64a: 0x089c4407b545986an },
  { text: 'abc', in32: 0x439c2f4b, in32a: 0x1a47e90b, in64: 0xd8dcca186bafadcbn, in64a: 0xe71fa2190541574bn },
])('the hashes of "$text" are those of Go', ({ text, in32, in32a, in64, in64a }) => {
  const bytes = Buffer.from(text);
  expect([fnv32(bytes), fnv32a(bytes), fnv64(bytes), fnv64a(text)]).toEqual([in32, in32a, in64, in64a]);
});

it.each([
  ['', 0x6c62272e07bb014262b821756295c58dn],
  ['a', 0xd228cb696f1a8caf78912b704e4a8964n],
  ['abc', 0xa68d622cec8b5822836dbc7977af7f3bn],
])('the hash of "%s" with 128 bits is that of Go', (text, hash) => {
  expect(fnv128a(Buffer.from(text))).toBe(hash);
});
