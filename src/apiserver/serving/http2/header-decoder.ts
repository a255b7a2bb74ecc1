import type { Buffer } from 'node:buffer';
import { decodeHuffman } from './huffman.ts';
import { Http2Error, errorCodes } from './protocol.ts';
import { staticTable } from './static-table.ts';

/** Overhead of a table entry in addition to its bytes: RFC 7541, 4.1. */
export const entryOverhead = 32;

/**
 * Called with each field of a block, in order. `isValid` is true if the value has no invalid character. A table entry is validated
 * once, not for each of the many references that one byte can make (CVE-2016-6581).
 */
export type OnField = (name: string, value: string, isValid: boolean) => void;

/** Matches control characters (RFC 9110, 5.5) and surrounding blanks (RFC 9113, 8.2.1). */
const invalidValue = /[\0-\x08\x0a-\x1f\x7f]|^[ \t]|[ \t]$/;

/**
 * Decodes the header fields of a connection's requests: HPACK, RFC 7541. Each block changes the table for the next ones, so all must be
 * decoded, also those of rejected requests. Strings have one character for each byte.
 *
 *     table after `a: 1`, then `b: 2`      index 62: b: 2      index 63: a: 1
 */
export class HeaderDecoder {
  readonly #maxTableBytes: number;
  #tableLimit: number;
  #tableBytes = 0;
  /** Table entries, the newest last. The first `#evicted` ones are evicted. */
  #names: string[] = [];
  #values: string[] = [];
  #valid: boolean[] = [];
  #evicted = 0;

  #block: Buffer | undefined;
  #at = 0;

  /** `maxTableBytes` is the table size that the settings allow. */
  constructor(maxTableBytes: number) {
    this.#maxTableBytes = maxTableBytes;
    this.#tableLimit = maxTableBytes;
  }

  /** Decodes a block. Throws Http2Error, after which no other block of the connection can be decoded. */
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
        if (!mayResize) throw malformed('table size update within a block');
        const bytes = this.#integer(0x1f);
        if (bytes > this.#maxTableBytes) throw malformed('table size exceeds the limit');
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

  /** Decodes an integer: RFC 7541, 5.1. `mask` selects the bits of the first byte that belong to it. */
  #integer(mask: number): number {
    const block = this.#block as Buffer;
    let value = (block[this.#at++] as number) & mask;
    if (value < mask) return value;
    for (let shift = 0; shift <= 21; shift += 7) {
      if (this.#at >= block.length) throw malformed('truncated integer');
      const octet = block[this.#at++] as number;
      value += (octet & 0x7f) << shift;
      if (octet < 0x80) return value;
    }
    throw malformed('integer is too large');
  }

  /** Decodes a string: RFC 7541, 5.2. */
  #text(): string {
    const block = this.#block as Buffer;
    if (this.#at >= block.length) throw malformed('missing string');
    const isHuffman = (block[this.#at] as number) >= 0x80;
    const length = this.#integer(0x7f);
    const start = this.#at;
    const end = start + length;
    if (end > block.length) throw malformed('truncated string');
    this.#at = end;
    const text = isHuffman ? decodeHuffman(block, start, end) : block.toString('latin1', start, end);
    if (text === undefined) throw malformed('invalid Huffman code');
    return text;
  }

  #nameAt(index: number): string {
    if (index === 0) throw malformed('invalid index 0');
    if (index <= staticTable.length) return (staticTable[index - 1] as readonly [string, string])[0];
    return this.#names[this.#place(index)] as string;
  }

  #valueAt(index: number): string {
    if (index <= staticTable.length) return (staticTable[index - 1] as readonly [string, string])[1];
    return this.#values[this.#place(index)] as string;
  }

  #place(index: number): number {
    const place = this.#names.length - (index - staticTable.length);
    if (place < this.#evicted) throw malformed('unknown index');
    return place;
  }

  #add(name: string, value: string, isValid: boolean): void {
    const bytes = name.length + value.length + entryOverhead;
    this.#evict(bytes);
    // An entry larger than the table empties it and is not added.
    if (bytes > this.#tableLimit) return;
    this.#names.push(name);
    this.#values.push(value);
    this.#valid.push(isValid);
    this.#tableBytes += bytes;
  }

  /** Evicts entries until the given number of bytes fits. */
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
