import { Buffer } from 'node:buffer';
import { entryOverhead } from './header-decoder.ts';
import { initial, ofConnection } from './protocol.ts';
import { staticTable } from './static-table.ts';

/** What differs from answer to answer is not worth an entry of the table, */
const volatile = new Set(['audit-id', 'content-length', 'date', 'etag', 'last-modified', 'location', 'warning']);
/** and what is secret must not be in one: RFC 7541, 7.1. */
const secret = new Set(['set-cookie', 'authorization', 'proxy-authorization']);
/** Longer values are hardly ever sent twice. */
const maxIndexedLength = 256;
/** No control characters but the tab, and one octet for each character: the rule of node:http as well. */
const invalidValue = /[^\t\x20-\x7e\x80-\xff]/;

/** The first octets of a field, beside its number: RFC 7541, 6. */
const forms = { indexed: 0x80, addToTable: 0x40, resize: 0x20, neverAdd: 0x10, doNotAdd: 0x00 } as const;

interface FieldName {
  readonly text: string;
  /** Of the static table; 0 if it is not there. */
  readonly index: number;
  readonly form: number;
  /** Numbers of values in the static table. */
  readonly values: ReadonlyMap<string, number>;
  readonly isLeftOut: boolean;
}

const names = new Map<string, FieldName>();
const maxNames = 1000;

function fieldName(name: string): FieldName {
  const known = names.get(name);
  if (known) return known;
  const text = name.toLowerCase();
  const values = new Map<string, number>();
  for (const [at, [ofEntry, value]] of staticTable.entries()) if (ofEntry === text && value !== '') values.set(value, at + 1);
  const index = staticTable.findIndex(([ofEntry]) => ofEntry === text) + 1;
  const form = secret.has(text) ? forms.neverAdd : volatile.has(text) ? forms.doNotAdd : forms.addToTable;
  const made: FieldName = { text, index, form, values, isLeftOut: ofConnection.has(text) };
  if (names.size < maxNames) names.set(name, made);
  return made;
}

let scratch = Buffer.allocUnsafeSlow(16 * 1024);

/**
 * The heads of a connection's answers: HPACK, RFC 7541. What is sent again and again is added to the table, until that is full; nothing is
 * taken out of it again, so that the numbers of its entries follow from how many there are. Texts are sent as they are: to shorten them by
 * Huffman's code would cost more than the bytes do.
 */
export class HeaderEncoder {
  #limit: number = initial.headerTableBytes;
  #bytes = 0;
  #entries = 0;
  /** By name and value: how many entries there were before. */
  readonly #known = new Map<FieldName, Map<string, number>>();
  /** The client has another table: it is told so with the next block, since that is where it is emptied. */
  #isResized = false;

  /** The client's SETTINGS_HEADER_TABLE_SIZE. The table starts again, never with more than it is by default. */
  resize(bytes: number): void {
    this.#limit = Math.min(bytes, initial.headerTableBytes);
    this.#bytes = 0;
    this.#entries = 0;
    this.#known.clear();
    this.#isResized = true;
  }

  /**
   * The block of an answer. `fields`: names and values in turn; names in any case. `date`: its Date, unless there is one. The block is a view of memory that the next call
   * writes to. Throws a TypeError for a value that cannot be sent, before anything is changed.
   */
  encode(status: number, fields: readonly string[], date?: string): Buffer {
    let bytes = 128;
    for (let at = 0; at < fields.length; at += 2) {
      const value = fields[at + 1] as string;
      if (invalidValue.test(value)) throw new TypeError(`the header ${fields[at]} has a character that cannot be sent`);
      bytes += (fields[at] as string).length + value.length + 16;
    }
    if (scratch.length < bytes) scratch = Buffer.allocUnsafeSlow(bytes);
    let at = 0;
    if (this.#isResized) {
      this.#isResized = false;
      at = writeInteger(at, forms.resize, 0x1f, 0);
      at = writeInteger(at, forms.resize, 0x1f, this.#limit);
    }
    at = this.#field(at, fieldName(':status'), String(status));
    let isDated = date === undefined;
    for (let i = 0; i < fields.length; i += 2) {
      const name = fieldName(fields[i] as string);
      if (name.text === 'date') isDated = true;
      if (!name.isLeftOut) at = this.#field(at, name, fields[i + 1] as string);
    }
    if (!isDated) at = this.#field(at, fieldName('date'), date as string);
    return scratch.subarray(0, at);
  }

  #field(at: number, name: FieldName, value: string): number {
    const ofStaticTable = name.values.get(value);
    if (ofStaticTable !== undefined) return writeInteger(at, forms.indexed, 0x7f, ofStaticTable);
    if (name.form !== forms.addToTable) return writeLiteral(at, name.form, 0x0f, name, value);
    const entry = this.#known.get(name)?.get(value);
    if (entry !== undefined) return writeInteger(at, forms.indexed, 0x7f, staticTable.length + this.#entries - entry);
    if (!this.#add(name, value)) return writeLiteral(at, forms.doNotAdd, 0x0f, name, value);
    return writeLiteral(at, forms.addToTable, 0x3f, name, value);
  }

  #add(name: FieldName, value: string): boolean {
    const bytes = name.text.length + value.length + entryOverhead;
    if (value.length > maxIndexedLength || this.#bytes + bytes > this.#limit) return false;
    this.#bytes += bytes;
    let values = this.#known.get(name);
    if (!values) {
      values = new Map();
      this.#known.set(name, values);
    }
    values.set(value, this.#entries);
    this.#entries += 1;
    return true;
  }
}

function writeLiteral(start: number, form: number, mask: number, name: FieldName, value: string): number {
  let at = writeInteger(start, form, mask, name.index);
  if (name.index === 0) at = writeText(at, name.text);
  return writeText(at, value);
}

/** RFC 7541, 5.1. */
function writeInteger(start: number, form: number, mask: number, value: number): number {
  let at = start;
  if (value < mask) {
    scratch[at++] = form | value;
    return at;
  }
  scratch[at++] = form | mask;
  let rest = value - mask;
  for (; rest >= 0x80; rest >>>= 7) scratch[at++] = (rest & 0x7f) | 0x80;
  scratch[at++] = rest;
  return at;
}

function writeText(start: number, text: string): number {
  const at = writeInteger(start, 0, 0x7f, text.length);
  return at + scratch.write(text, at, 'latin1');
}
