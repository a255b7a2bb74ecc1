import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { FrameReader } from './frame-reader.ts';
import { flags, frameTypes, writeFrameHead } from './protocol.ts';

interface Seen {
  readonly type: number;
  readonly flag: number;
  readonly stream: number;
  readonly payload: string;
}

/** Reads bytes split at `cuts`. Pauses after every `pauseEvery` frames and resumes after every second piece. */
function read(bytes: Buffer, cuts: readonly number[], maxFrameBytes = 1000, pauseEvery = 0): Seen[] {
  const seen: Seen[] = [];
  let isPaused = false;
  let data: { flag: number; stream: number; parts: Buffer[]; bodyLength: number } | undefined;
  const reader = new FrameReader(
    {
      numberFrame: (type, stream, value) => seen.push({ type, flag: 0, stream, payload: value.toString(16).padStart(8, '0') }),
      frame: (type, flag, stream, payload) => {
        expect(isPaused).toBe(false);
        seen.push({ type, flag, stream, payload: payload.toString('hex') });
        isPaused = pauseEvery > 0 && seen.length % pauseEvery === 0;
        if (isPaused) reader.pause();
      },
      dataBegins: (stream, flag, _length, bodyLength) => {
        data = { flag, stream, parts: [], bodyLength };
      },
      data: (chunk) => data?.parts.push(chunk),
      dataEnds: () => {
        const { flag, stream, parts, bodyLength } = data as NonNullable<typeof data>;
        const payload = Buffer.concat(parts);
        expect(payload.length).toBe(bodyLength);
        seen.push({ type: frameTypes.data, flag, stream, payload: payload.toString('hex') });
      },
    },
    maxFrameBytes,
  );
  const goOn = (): void => {
    while (isPaused) {
      isPaused = false;
      reader.resume();
    }
  };
  let at = 0;
  let pieces = 0;
  for (const cut of [...cuts].sort((a, b) => a - b)) {
    if (cut <= at || cut > bytes.length) continue;
    reader.push(bytes.subarray(at, cut));
    at = cut;
    if (++pieces % 2 === 0) goOn();
  }
  if (at < bytes.length) reader.push(bytes.subarray(at));
  goOn();
  return seen;
}

function frame(type: number, flag: number, stream: number, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(9);
  writeFrameHead(head, 0, payload.length, type, flag, stream);
  return Buffer.concat([head, payload]);
}

it('reads the same frames for any split of the input', () => {
  // Frames whose payload is a number have four bytes and no flags.
  const isNumber = (type: number): boolean => type === frameTypes.resetStream || type === frameTypes.windowUpdate;
  const numbers = fc.record({
    type: fc.constantFrom(frameTypes.resetStream, frameTypes.windowUpdate),
    flag: fc.constant(0),
    stream: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
    payload: fc.uint8Array({ minLength: 4, maxLength: 4 }),
    padding: fc.constant(null),
  });
  const others = fc.record({
    type: fc.integer({ min: 0, max: 12 }).filter((type) => !isNumber(type)),
    flag: fc.constantFrom(0, flags.endStream),
    stream: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
    payload: fc.uint8Array({ maxLength: 200 }),
    padding: fc.option(fc.integer({ min: 0, max: 255 })),
  });
  fc.assert(
    fc.property(
      fc.array(fc.oneof(numbers, others), { maxLength: 10 }),
      fc.array(fc.nat(3000), { maxLength: 40 }),
      fc.nat(3),
      (frames, cuts, pauseEvery) => {
        const isPadded = (i: number): boolean => frames[i]?.type === frameTypes.data && frames[i]?.padding !== null;
        const bytes = Buffer.concat(
          frames.map(({ type, flag, stream, payload, padding }, i) =>
            isPadded(i)
              ? frame(type, flag | flags.padded, stream, Buffer.concat([Buffer.from([padding ?? 0]), payload, Buffer.alloc(padding ?? 0)]))
              : frame(type, flag, stream, payload),
          ),
        );
        const expected = frames.map(({ type, flag, stream, payload }, i) => ({
          type,
          flag: isPadded(i) ? flag | flags.padded : flag,
          stream,
          payload: Buffer.from(payload).toString('hex'),
        }));
        expect(read(bytes, cuts, 1000, pauseEvery)).toEqual(expected);
        expect(read(bytes, [...bytes.keys()], 1000, pauseEvery)).toEqual(expected);
      },
    ),
  );
});

it('ignores the reserved bit of a stream number', () => {
  expect(read(frame(frameTypes.ping, 0, 0x80000003, Buffer.alloc(0)), [])).toMatchObject([{ stream: 3 }]);
});

it.each([
  { name: 'a frame that is too large', bytes: frame(frameTypes.headers, 0, 1, Buffer.alloc(1001)), reason: 'a frame is too large' },
  { name: 'a truncated number', bytes: frame(frameTypes.windowUpdate, 0, 1, Buffer.alloc(3)), reason: 'must have 4 bytes' },
  { name: 'padding without its length', bytes: frame(frameTypes.data, flags.padded, 1, Buffer.alloc(0)), reason: 'a frame is too short' },
  { name: 'more padding than payload', bytes: frame(frameTypes.data, flags.padded, 1, Buffer.from([3, 0, 0])), reason: 'padding exceeds' },
])('rejects $name', ({ bytes, reason }) => {
  expect(() => read(bytes, [])).toThrow(reason);
});
