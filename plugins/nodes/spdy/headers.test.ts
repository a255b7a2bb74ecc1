import { Buffer } from 'node:buffer';
import { constants, createDeflate, createInflate, type Deflate, type Inflate } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SpdyError } from './frames.ts';
import { dictionary, HeaderReader, HeaderWriter, type SpdyHeaders } from './headers.ts';

/** Passes bytes through one stream of zlib and returns its output. */
function pass(stream: Deflate | Inflate, bytes: Buffer): Promise<Buffer> {
  const chunks: Buffer[] = [];
  const collect = (chunk: Buffer): void => void chunks.push(chunk);
  stream.on('data', collect);
  return new Promise((resolve, reject) => {
    stream.once('error', reject);
    stream.write(bytes, () =>
      stream.flush(constants.Z_SYNC_FLUSH, () => {
        stream.off('data', collect);
        resolve(Buffer.concat(chunks));
      }),
    );
  });
}

function encode(headers: SpdyHeaders): Buffer {
  const word = (text: string): Buffer => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(Buffer.byteLength(text));
    return Buffer.concat([length, Buffer.from(text)]);
  };
  const count = Buffer.alloc(4);
  count.writeUInt32BE(Object.keys(headers).length);
  return Buffer.concat([count, ...Object.entries(headers).flatMap(([name, value]) => [word(name), word(value)])]);
}

const blocks: SpdyHeaders[] = [
  { streamtype: 'error', port: '80', requestid: '0' },
  { streamtype: 'data', port: '80', requestid: '0' },
  {},
  { long: 'x'.repeat(50_000), streamtype: 'error' },
  { streamtype: 'data', again: 'x'.repeat(20_000) },
];

describe('compressed headers', () => {
  it('can be read from another implementation, each with the history of those before', async () => {
    const deflate = createDeflate({ dictionary, level: 9 });
    const reader = new HeaderReader();
    for (const headers of blocks) expect({ ...reader.read(await pass(deflate, encode(headers))) }).toEqual(headers);
  });

  it('can be read by another implementation', async () => {
    const inflate = createInflate({ dictionary });
    const writer = new HeaderWriter();
    for (const headers of blocks.slice(0, 3)) expect(await pass(inflate, writer.write(headers))).toEqual(encode(headers));
  });

  it('fail with an error of the protocol if they are damaged', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        try {
          new HeaderReader().read(Buffer.from(bytes));
        } catch (error) {
          expect(error).toBeInstanceOf(SpdyError);
        }
      }),
    );
  });
});
