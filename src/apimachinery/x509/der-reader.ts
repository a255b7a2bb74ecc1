import type { Buffer } from 'node:buffer';

/** Universal tags of DER: X.690, section 8. */
export const tags = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  sequence: 0x30,
  set: 0x31,
  numericString: 0x12,
  printableString: 0x13,
  t61String: 0x14,
  ia5String: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  bmpString: 0x1e,
} as const;

/** Returns the tag of a context-specific element; `constructed` for one with nested elements. */
export function contextTag(number: number, constructed: 'constructed' | 'primitive' = 'primitive'): number {
  return 0x80 | (constructed === 'constructed' ? 0x20 : 0) | number;
}

/** An element: its tag, its whole encoding, and its content. */
export interface DerElement {
  readonly tag: number;
  readonly whole: Buffer;
  readonly content: Buffer;
}

/** A bit string; bit 0 is the highest bit of the first byte. */
export interface BitString {
  readonly bytes: Buffer;
  readonly unusedBits: number;
}

/** Error for malformed or unexpected DER. */
export class DerError extends Error {
  override readonly name = 'DerError';
}

const maxLengthBytes = 4;

/**
 * Reads the elements of a byte string in sequence. It accepts only DER: tags of one byte and lengths in their shortest form. Every reading
 * method throws a DerError with the given message otherwise. Upstream: golang.org/x/crypto/cryptobyte (asn1.go).
 */
export class DerReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isEmpty(): boolean {
    return this.#at >= this.#bytes.length;
  }

  /** The tag of the next element; undefined at the end. */
  get nextTag(): number | undefined {
    return this.#bytes[this.#at];
  }

  /** Reads an element with the given tag, or with any. */
  element(problem: string, tag?: number): DerElement {
    const start = this.#at;
    const found = this.#bytes[start];
    if (found === undefined || (found & 0x1f) === 0x1f || (tag !== undefined && found !== tag)) throw new DerError(problem);
    const begin = start + 2;
    const first = this.#bytes[start + 1];
    if (first === undefined) throw new DerError(problem);
    const [contentStart, length] = first < 0x80 ? [begin, first] : this.#longLength(begin, first & 0x7f, problem);
    const end = contentStart + length;
    if (end > this.#bytes.length) throw new DerError(problem);
    this.#at = end;
    return { tag: found, whole: this.#bytes.subarray(start, end), content: this.#bytes.subarray(contentStart, end) };
  }

  #longLength(begin: number, count: number, problem: string): readonly [contentStart: number, length: number] {
    if (count === 0 || count > maxLengthBytes || begin + count > this.#bytes.length) throw new DerError(problem);
    const length = this.#bytes.readUIntBE(begin, count);
    // The shortest form: no long form below 128, no leading zero.
    if (length < 0x80 || length < 2 ** (8 * (count - 1))) throw new DerError(problem);
    return [begin + count, length];
  }

  /** Reads an element with the tag, and returns a reader of its content. */
  inside(tag: number, problem: string): DerReader {
    return new DerReader(this.element(problem, tag).content);
  }

  /** Like `inside`; undefined if the next element has another tag. */
  insideOptional(tag: number, problem: string): DerReader | undefined {
    return this.nextTag === tag ? this.inside(tag, problem) : undefined;
  }

  /** Skips the next element if it has the tag. */
  skipOptional(tag: number, problem: string): void {
    if (this.nextTag === tag) this.element(problem, tag);
  }

  /** Reads all remaining elements. */
  rest(problem: string): DerElement[] {
    const elements: DerElement[] = [];
    while (!this.isEmpty) elements.push(this.element(problem));
    return elements;
  }

  /** Throws unless all bytes are read. */
  end(problem: string): void {
    if (!this.isEmpty) throw new DerError(problem);
  }

  boolean(problem: string): boolean {
    const { content } = this.element(problem, tags.boolean);
    if (content.length !== 1 || (content[0] !== 0 && content[0] !== 0xff)) throw new DerError(problem);
    return content[0] === 0xff;
  }

  integer(problem: string, tag: number = tags.integer): bigint {
    const { content } = this.element(problem, tag);
    const [first, second = 0] = content;
    if (first === undefined) throw new DerError(problem);
    if (content.length > 1 && ((first === 0 && second < 0x80) || (first === 0xff && second >= 0x80))) throw new DerError(problem);
    return BigInt.asIntN(content.length * 8, BigInt(`0x${content.toString('hex')}`));
  }

  /** Reads an object identifier in dotted form. */
  objectIdentifier(problem: string): string {
    return dotted(this.element(problem, tags.objectIdentifier).content, problem);
  }

  bitString(problem: string): BitString {
    const { content } = this.element(problem, tags.bitString);
    const unusedBits = content[0];
    const bytes = content.subarray(1);
    if (unusedBits === undefined || unusedBits > 7 || (bytes.length === 0 && unusedBits > 0)) throw new DerError(problem);
    if (((bytes.at(-1) ?? 0) & ((1 << unusedBits) - 1)) !== 0) throw new DerError(problem);
    return { bytes, unusedBits };
  }

  /**
   * Reads a UTCTime or a GeneralizedTime, and returns milliseconds since 1970. Upstream: cryptobyte (ReadASN1UTCTime,
   * ReadASN1GeneralizedTime).
   */
  time(problem: string): number {
    const { tag, content } = this.element(problem);
    const parse = tag === tags.utcTime ? utcTime : tag === tags.generalizedTime ? generalizedTime : undefined;
    const time = parse?.(content.toString('latin1'));
    if (time === undefined) throw new DerError(problem);
    return time;
  }
}

/**
 * Decodes an object identifier. Upstream: cryptobyte (ReadASN1ObjectIdentifier): components have at most 31 bits, without leading zeros.
 */
function dotted(content: Buffer, problem: string): string {
  const parts: number[] = [];
  for (let at = 0; at < content.length; ) {
    if (content[at] === 0x80) throw new DerError(problem);
    let part = 0;
    for (;;) {
      const byte = content[at++];
      if (byte === undefined || part >= 2 ** 24) throw new DerError(problem);
      part = part * 128 + (byte & 0x7f);
      if (byte < 0x80) break;
    }
    parts.push(part);
  }
  const first = parts.shift();
  if (first === undefined) throw new DerError(problem);
  return (first < 80 ? [Math.floor(first / 40), first % 40, ...parts] : [2, first - 80, ...parts]).join('.');
}

/** Returns a bit of a bit string; false past its end. */
export function bitAt({ bytes }: BitString, index: number): boolean {
  return ((bytes[index >> 3] ?? 0) & (0x80 >> (index & 7))) !== 0;
}

/** Returns the bytes of a bit string as those of a number: unused bits are shifted out. */
export function rightAligned({ bytes, unusedBits }: BitString): Buffer {
  if (unusedBits === 0) return bytes;
  return bytes.map((byte, at) => ((byte >> unusedBits) | ((bytes[at - 1] ?? 0) << (8 - unusedBits))) & 0xff) as Buffer;
}

/** Parses a UTCTime. As in old certificates, the seconds may be absent, and a zone may replace `Z`. */
function utcTime(text: string): number | undefined {
  const match = /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)?(Z|[+-]\d{4})$/.exec(text);
  if (!match) return undefined;
  const [, yy, month, day, hour, minute, second = '00', zone] = match;
  const year = Number(yy) >= 50 ? 1900 + Number(yy) : 2000 + Number(yy);
  return timeOf([String(year), month, day, hour, minute, second], zone);
}

function generalizedTime(text: string): number | undefined {
  const match = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(Z|[+-]\d{4})$/.exec(text);
  if (!match) return undefined;
  const [, year, month, day, hour, minute, second, zone] = match;
  return timeOf([year, month, day, hour, minute, second], zone);
}

function timeOf([year, month, day, hour, minute, second]: (string | undefined)[], zone = 'Z'): number | undefined {
  // `+0000` is not canonical: it must be `Z`.
  if (zone !== 'Z' && /^[+-]0000$/.test(zone)) return undefined;
  const offset = zone === 'Z' ? zone : `${zone.slice(0, 3)}:${zone.slice(3)}`;
  const text = `${year}-${month}-${day}T${hour}:${minute}:${second}`;
  const utc = new Date(`${text}Z`);
  // Date accepts 24:00 and the 31st of some months.
  if (Number.isNaN(utc.getTime()) || !utc.toISOString().startsWith(text)) return undefined;
  const time = Date.parse(`${text}${offset}`);
  return Number.isNaN(time) ? undefined : time;
}
