import { Buffer } from 'node:buffer';
import { constants, inflateRawSync } from 'node:zlib';
import { SpdyError } from './frames.ts';

export type SpdyHeaders = Readonly<Record<string, string>>;

/** Strings of the dictionary, each preceded by its length. */
const counted =
  'options|head|post|put|delete|trace|accept|accept-charset|accept-encoding|accept-language|accept-ranges|age|all' +
  'ow|authorization|cache-control|connection|content-base|content-encoding|content-language|content-length|conten' +
  't-location|content-md5|content-range|content-type|date|etag|expect|expires|from|host|if-match|if-modified-sinc' +
  'e|if-none-match|if-range|if-unmodified-since|last-modified|location|max-forwards|pragma|proxy-authenticate|pro' +
  'xy-authorization|range|referer|retry-after|server|te|trailer|transfer-encoding|upgrade|user-agent|vary|via|war' +
  'ning|www-authenticate|method|get|status|200 OK|version|HTTP/1.1|url|public|set-cookie|keep-alive|origin';
/** Further strings, which follow each other. */
const joined =
  '100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505203 Non-Authoritativ' +
  'e Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403 Forbidden404 Not Found500 I' +
  'nternal Server Error501 Not Implemented503 Service UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec' +
  ' 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMTchunked,text/html,image/png,image/jpg,image/gif,application/xm' +
  'l,application/xhtml+xml,text/plain,text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=' +
  'iso-8859-1,utf-,*,enq=0.';

const word = (text: string): Buffer => {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(Buffer.byteLength(text));
  return Buffer.concat([length, Buffer.from(text)]);
};

/** Dictionary with which both sides start the compression of headers: SPDY/3, 2.6.10.1. */
export const dictionary: Buffer = Buffer.concat([...counted.split('|').map(word), Buffer.from(joined)]);

const windowBytes = 32_768;
const maxHeaderBytes = 256 * 1024;
const maxHeaders = 1_000;

/**
 * Decompresses the header blocks of one connection. They are parts of one zlib stream, each flushed to a byte boundary, so each part is
 * inflated by itself with the last 32 KiB before it.
 */
export class HeaderReader {
  #history: Buffer = dictionary;
  #isFirst = true;

  /** Throws SpdyError. */
  read(block: Buffer): SpdyHeaders {
    // The stream starts with its format and the checksum of the dictionary.
    const bytes = this.#isFirst ? block.subarray(6) : block;
    this.#isFirst = false;
    let text: Buffer;
    try {
      text = inflateRawSync(bytes, { dictionary: this.#history, finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: maxHeaderBytes });
    } catch (cause) {
      throw new SpdyError('the headers cannot be decompressed', { cause });
    }
    this.#history = Buffer.concat([this.#history, text]).subarray(-windowBytes);
    return parseHeaders(text);
  }
}

function parseHeaders(text: Buffer): SpdyHeaders {
  let at = 0;
  const number = (): number => {
    if (at + 4 > text.length) throw new SpdyError('the headers are too short');
    at += 4;
    return text.readUInt32BE(at - 4);
  };
  const string = (): string => {
    const length = number();
    if (at + length > text.length) throw new SpdyError('the headers are too short');
    at += length;
    return text.toString('utf8', at - length, at);
  };
  const count = number();
  if (count > maxHeaders) throw new SpdyError('too many headers');
  const headers = Object.create(null) as Record<string, string>;
  for (let i = 0; i < count; i += 1) {
    const name = string().toLowerCase();
    headers[name] = string();
  }
  return headers;
}

/** An empty stored block, after which Go's decompressor gives out all that precedes it: RFC 1951, 3.2.4. */
const flush = Buffer.from([0, 0, 0, 0xff, 0xff]);

/** Compresses the header blocks of one connection, as stored blocks of one zlib stream: they are small and few. */
export class HeaderWriter {
  #isFirst = true;

  write(headers: SpdyHeaders): Buffer {
    const entries = Object.entries(headers);
    const count = Buffer.alloc(4);
    count.writeUInt32BE(entries.length);
    const text = Buffer.concat([count, ...entries.flatMap(([name, value]) => [word(name), word(value)])]);
    const stored = Buffer.alloc(5);
    stored.writeUInt16LE(text.length, 1);
    stored.writeUInt16LE(0xffff - text.length, 3);
    const start = this.#isFirst ? zlibStart() : Buffer.alloc(0);
    this.#isFirst = false;
    return Buffer.concat([start, stored, text, flush]);
  }
}

/** Start of a zlib stream with the dictionary: RFC 1950, 2.2. */
function zlibStart(): Buffer {
  const start = Buffer.from([0x78, 0xbb, 0, 0, 0, 0]);
  start.writeUInt32BE(adler32(dictionary), 2);
  return start;
}

function adler32(bytes: Buffer): number {
  let a = 1;
  let b = 0;
  for (const byte of bytes) {
    a = (a + byte) % 65_521;
    b = (b + a) % 65_521;
  }
  return ((b << 16) | a) >>> 0;
}
