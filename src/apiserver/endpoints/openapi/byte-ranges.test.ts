import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { type ByteRange, byteRanges, bytesOf, contentRange, multipartRanges } from './byte-ranges.ts';

const range = (start: number, length: number): ByteRange => ({ start, length });
const pieces = ['012', '', '3456', '789'].map((text) => Buffer.from(text));

// As kube-apiserver responds for OpenAPI documents.
describe('byteRanges of ten bytes', () => {
  it.each([
    { header: undefined, want: [] },
    { header: '', want: [] },
    { header: 'bytes=0-3', want: [range(0, 4)] },
    { header: 'bytes=4-', want: [range(4, 6)] },
    { header: 'bytes=8-99', want: [range(8, 2)] },
    { header: 'bytes=-4', want: [range(6, 4)] },
    { header: 'bytes=-99', want: [range(0, 10)] },
    { header: 'bytes= 1 - 2 , ,5-5', want: [range(1, 2), range(5, 1)] },
    { header: 'bytes=2-3,10-', want: [range(2, 2)] },
    { header: 'bytes=0-9,0-0', want: [] },
    { header: 'bytes=,', want: [] },
    { header: 'bytes=10-', want: { message: 'invalid range: failed to overlap', isOutside: true } },
    ...['items=0-3', 'bytes=3', 'bytes=5-2', 'bytes=-', 'bytes=a-3', 'bytes=1-b', 'bytes=--1'].map((header) => ({
      header,
      want: { message: 'invalid range', isOutside: false },
    })),
  ])('$header', ({ header, want }) => {
    expect(byteRanges(header, 10)).toEqual(want);
  });
});

it('ranges can span several buffers', () => {
  expect([range(0, 10), range(2, 3), range(9, 1)].map((one) => bytesOf(pieces, one).toString())).toEqual(['0123456789', '234', '9']);
  expect(contentRange(range(2, 3), 10)).toBe('bytes 2-4/10');
});

it('several ranges are parts of one response', () => {
  const { contentType, body } = multipartRanges(pieces, 10, 'text/plain', [range(0, 2), range(7, 3)]);
  const boundary = contentType.slice('multipart/byteranges; boundary='.length);
  expect(boundary).toMatch(/^[0-9a-f]{60}$/);
  const part = (which: string, text: string) =>
    `--${boundary}\r\nContent-Range: bytes ${which}/10\r\nContent-Type: text/plain\r\n\r\n${text}\r\n`;
  expect(body.toString()).toBe(`${part('0-1', '01')}${part('7-9', '789')}--${boundary}--\r\n`);
});
