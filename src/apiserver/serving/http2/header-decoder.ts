import type { Buffer } from 'node:buffer';
import { decodeHuffman } from './huffman.ts';
import { Http2Error, errorCodes } from './protocol.ts';
import { staticTable } from './static-table.ts';

/** What an entry counts for in a table beside its octets: RFC 7541, 4.1. */
export const entryOverhead = 32;

/**
 * Called with each field of a block, in its order. `isValid`: the value has no character that a value may not have. An entry of the
 * table is checked once, not for each of the many references that one octet makes (CVE-2016-6581).
 */
export type OnField = (name: string, value: string, isValid: boolean) => void;

/** No control characters (RFC 9110, 5.5), and no blanks around it (RFC 9113, 8.2.1). */
const invalidValue = /[\0-\x08\x0a-\x1f\x7f]|^[ \t]|[ \t]$/;

/**
 * The header fields of a connection's requests: HPACK, RFC 7541. Each block changes the table by which the next ones are read, so that all
 * are decoded, also those of requests that are refused. Texts have one character for each octet.
 *
 *     the table after `a: 1`, then `b: 2`      index 62: b: 2      index 63: a: 1
 */
export class HeaderDecoder {
  readonly #maxTableBytes: number;
  #tableLimit: number;
  #tableBytes = 0;
  /** The newest last. The first `#evicted` have gone. */
  #names: string[] = [];
  #values: string[] = [];
  #valid: boolean[] = [];
  #evicted = 0;

  #block: Buffer | undefined;
  #at = 0;

  /** `maxTableBytes`: what the settings allow the client to make of the table. */
  constructor(maxTableBytes: number) {
    this.#maxTableBytes = maxTableBytes;
    this.#tableLimit = maxTableBytes;
  }

  /** Throws Http2Error, after which no block of the connection can be read. */
  decode(block: Buffer, onField: OnField): void {
    this.#block = block;
    this.#at = 0;
    let mayResize = true;
    while (this.#at < block.length) {
      const first = block[this.#at] as number;
      if (first >= 0x80) {
        const index = this.#integer(0x7f);
        onField(this.#nameAt(index), this.#valueAt(index), index <= staticTable.length || (this.#valid[this.#place(index)] as boolean));
      } else if (first >= 0x40) {
        const index = this.#integer(0x3f);
        const name = index === 0 ? this.#text() : this.#nameAt(index);
        const value = this.#text();
        const isValid = !invalidValue.test(value);
        this.#add(name, value, isValid);
        onField(name, value, isValid);
      } else if (first >= 0x20) {
        if (!mayResize) throw malformed('a table is resized in the middle of a block');
        const bytes = this.#integer(0x1f);
        if (bytes > this.#maxTableBytes) throw malformed('a table is larger than it may be');
        this.#tableLimit = bytes;
        this.#evict(0);
        continue;
      } else {
        const index = this.#integer(0x0f);
        const name = index === 0 ? this.#text() : this.#nameAt(index);
        const value = this.#text();
        onField(name, value, !invalidValue.test(value));
      }
      mayResize = false;
    }
    this.#block = undefined;
  }

  /** RFC 7541, 5.1. `mask`: the bits of the first octet that are the number's. */
  #integer(mask: number): number {
    const block = this.#block as Buffer;
    let value = (block[this.#at++] as number) & mask;
    if (value < mask) return value;
    for (let shift = 0; shift <= 21; shift += 7) {
      if (this.#at >= block.length) throw malformed('a number is cut off');
      const octet = block[this.#at++] as number;
      value += (octet & 0x7f) << shift;
      if (octet < 0x80) return value;
    }
    throw malformed('a number is too large');
  }

  /** RFC 7541, 5.2. */
  #text(): string {
    const block = this.#block as Buffer;
    if (this.#at >= block.length) throw malformed('a text is missing');
    const isHuffman = (block[this.#at] as number) >= 0x80;
    const length = this.#integer(0x7f);
    const start = this.#at;
    const end = start + length;
    if (end > block.length) throw malformed('a text is cut off');
    this.#at = end;
    const text = isHuffman ? decodeHuffman(block, start, end) : block.toString('latin1', start, end);
    if (text === undefined) throw malformed('a text is no Huffman code');
    return text;
  }

  #nameAt(index: number): string {
    if (index === 0) throw malformed('no entry has the number 0');
    if (index <= staticTable.length) return (staticTable[index - 1] as readonly [string, string])[0];
    return this.#names[this.#place(index)] as string;
  }

  #valueAt(index: number): string {
    if (index <= staticTable.length) return (staticTable[index - 1] as readonly [string, string])[1];
    return this.#values[this.#place(index)] as string;
  }

  #place(index: number): number {
    const place = this.#names.length - (index - staticTable.length);
    if (place < this.#evicted) throw malformed('no entry has this number');
    return place;
  }

  #add(name: string, value: string, isValid: boolean): void {
    const bytes = name.length + value.length + entryOverhead;
    this.#evict(bytes);
    // An entry that is too large for the table empties it, and is not added.
    if (bytes > this.#tableLimit) return;
    this.#names.push(name);
    this.#values.push(value);
    this.#valid.push(isValid);
    this.#tableBytes += bytes;
  }

  /** Makes room for so many bytes. */
  #evict(bytes: number): void {
    while (this.#tableBytes + bytes > this.#tableLimit && this.#evicted < this.#names.length) {
      const { length: ofName } = this.#names[this.#evicted] as string;
      const { length: ofValue } = this.#values[this.#evicted] as string;
      this.#tableBytes -= ofName + ofValue + entryOverhead;
      this.#evicted += 1;
    }
    if (this.#evicted < 128) return;
    this.#names = this.#names.slice(this.#evicted);
    this.#values = this.#values.slice(this.#evicted);
    this.#valid = this.#valid.slice(this.#evicted);
    this.#evicted = 0;
  }
}

function malformed(message: string): Http2Error {
  return new Http2Error(errorCodes.compressionError, message);
}
