import { Buffer } from 'node:buffer';
import { expect, it } from 'vitest';
import { dataFrame, pingFrame, SpdyError, type SpdyFrame, SpdyFrameReader } from './frames.ts';

const read = (reader: SpdyFrameReader, bytes: Buffer): SpdyFrame[] => [...reader.read(bytes)];

it.each([1, 3, 7, 9, 1_000])('frames that arrive %d octets at a time are the same', (size) => {
  const bytes = Buffer.concat([pingFrame(1), dataFrame(5, Buffer.from('hello'), false), dataFrame(5, Buffer.alloc(0), true), pingFrame(3)]);
  const reader = new SpdyFrameReader();
  const frames: SpdyFrame[] = [];
  for (let at = 0; at < bytes.length; at += size) frames.push(...read(reader, bytes.subarray(at, at + size)));
  const texts = frames.map((one) =>
    one.type === 'data' ? `${one.payload.toString()}${one.isLast ? '.' : ''}` : one.type === 'ping' ? `<${one.id}>` : '',
  );
  expect(texts.join('')).toBe('<1>hello.<3>');
});

it('passes the payload of a data frame on as it arrives', () => {
  const reader = new SpdyFrameReader();
  const frame = dataFrame(1, Buffer.alloc(16_000_000), true);
  expect(read(reader, frame.subarray(0, 108))).toEqual([{ type: 'data', stream: 1, isLast: false, payload: Buffer.alloc(100) }]);
  expect(read(reader, frame.subarray(108, 109))).toEqual([{ type: 'data', stream: 1, isLast: false, payload: Buffer.alloc(1) }]);
  expect(read(reader, frame.subarray(109))).toMatchObject([{ isLast: true }]);
});

it('rejects a control frame that is longer than any header block', () => {
  const frame = pingFrame(1);
  frame.writeUIntBE(1_000_000, 5, 3);
  expect(() => read(new SpdyFrameReader(), frame)).toThrow(SpdyError);
});
