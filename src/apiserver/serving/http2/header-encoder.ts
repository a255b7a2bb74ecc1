import { Buffer } from 'node:buffer';
import { entryOverhead } from './header-decoder.ts';
import { initial, ofConnection } from './protocol.ts';
import { staticTable } from './static-table.ts';

/** Fields whose values change with each response, which are not added to the table. */
const volatile = new Set(['audit-id', 'content-length', 'date', 'etag', 'last-modified', 'location', 'warning']);
/** Secret fields, which must not be in the table: RFC 7541, 7.1. */
const secret = new Set(['set-cookie', 'authorization', 'proxy-authorization']);
/** Maximum length of indexed values; longer ones are rarely repeated. */
const maxIndexedLength = 256;
/** Matches control characters except tab, and characters above one byte, like node:http. */
const invalidValue = /[^\t\x20-\x7e\x80-\xff]/;

/** Bit patterns of the first byte of a field: RFC 7541, 6. */
const forms = { indexed: 0x80, addToTable: 0x40, resize: 0x20, neverAdd: 0x10, doNotAdd: 0x00 } as const;

interface FieldName {
  readonly text: string;
  /** Index in the static table; 0 if it is not there. */
  readonly index: number;
  readonly form: number;
  /** Indexes of values in the static table. */
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
 * Encodes the response heads of a connection: HPACK, RFC 7541. Repeated fields are added to the table until it is full; entries are
 * never evicted, so that their indexes follow from the number of entries. Strings are sent without Huffman coding, which costs more
 * CPU time than the saved bytes are worth.
 */
export class HeaderEncoder {
  #limit: number = initial.headerTableBytes;
  #bytes = 0;
  #entries = 0;
  /** Number of earlier entries by name and value. */
  readonly #known = new Map<FieldName, Map<string, number>>();
  /** True if the table size has changed; the next block announces it, which empties the table. */
  #isResized = false;

  /** Applies the client's SETTINGS_HEADER_TABLE_SIZE, at most the default size. The table is emptied. */
  resize(bytes: number): void {
    this.#limit = Math.min(bytes, initial.headerTableBytes);
    this.#bytes = 0;
    this.#entries = 0;
    this.#known.clear();
    this.#isResized = true;
  }

  /**
   * Encodes the head of a response. `fields` alternates names and values; names in any case. `date` is the default Date. The result
   * is a view of memory that the next call overwrites. Throws a TypeError for an invalid value before any state changes.
   */
  encode(status: number, fields: readonly string[], date?: string): Buffer {
    let bytes = 128;
    for (let at = 0; at < fields.length; at += 2) {
      const value = fields[at + 1] as string;
      if (invalidValue.test(value)) throw new TypeError(`header ${fields[at]} contains an invalid character`);
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

/** Writes an integer: RFC 7541, 5.1. */
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
