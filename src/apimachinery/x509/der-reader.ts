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

/** The tag of a context-specific element; `constructed` for one that holds other elements. */
export function contextTag(number: number, constructed: 'constructed' | 'primitive' = 'primitive'): number {
  return 0x80 | (constructed === 'constructed' ? 0x20 : 0) | number;
}

/** One element: its tag, all its bytes, and its content. */
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

/** Input that is not the DER that was expected. */
export class DerError extends Error {
  override readonly name = 'DerError';
}

const maxLengthBytes = 4;

/**
 * Reads the elements of a byte string one after another. It takes DER only: tags of one byte and lengths in their shortest
 * form. Every method that reads throws a DerError with the given message for anything else.
 * Upstream: golang.org/x/crypto/cryptobyte (asn1.go).
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

  /** Reads one element, of any tag or of the given one. */
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
    // The shortest form: no length below 128, no zero in front.
    if (length < 0x80 || length < 2 ** (8 * (count - 1))) throw new DerError(problem);
    return [begin + count, length];
  }

  /** Reads an element of that tag and returns a reader of its content. */
  inside(tag: number, problem: string): DerReader {
    return new DerReader(this.element(problem, tag).content);
  }

  /** As `inside`; undefined if the next element has another tag. */
  insideOptional(tag: number, problem: string): DerReader | undefined {
    return this.nextTag === tag ? this.inside(tag, problem) : undefined;
  }

  /** Skips an element of that tag, if it is the next one. */
  skipOptional(tag: number, problem: string): void {
    if (this.nextTag === tag) this.element(problem, tag);
  }

  /** All elements up to the end. */
  rest(problem: string): DerElement[] {
    const elements: DerElement[] = [];
    while (!this.isEmpty) elements.push(this.element(problem));
    return elements;
  }

  /** Throws if anything is left. */
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

  /** Reads a UTCTime or a GeneralizedTime, in milliseconds since 1970. Upstream: cryptobyte (ReadASN1UTCTime, ReadASN1GeneralizedTime). */
  time(problem: string): number {
    const { tag, content } = this.element(problem);
    const parse = tag === tags.utcTime ? utcTime : tag === tags.generalizedTime ? generalizedTime : undefined;
    const time = parse?.(content.toString('latin1'));
    if (time === undefined) throw new DerError(problem);
    return time;
  }
}

/** Upstream: cryptobyte (ReadASN1ObjectIdentifier): parts are at most 31 bits, without leading zeros. */
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

/** The bit of a bit string; false beyond its end. */
export function bitAt({ bytes }: BitString, index: number): boolean {
  return ((bytes[index >> 3] ?? 0) & (0x80 >> (index & 7))) !== 0;
}

/** The bytes of a bit string as a number's: unused bits are shifted out. */
export function rightAligned({ bytes, unusedBits }: BitString): Buffer {
  if (unusedBits === 0) return bytes;
  return bytes.map((byte, at) => ((byte >> unusedBits) | ((bytes[at - 1] ?? 0) << (8 - unusedBits))) & 0xff) as Buffer;
}

/** The seconds may be missing, and a zone may stand for `Z`, as old certificates have it. */
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
  // `+0000` is not the canonical form of `Z`.
  if (zone !== 'Z' && /^[+-]0000$/.test(zone)) return undefined;
  const offset = zone === 'Z' ? zone : `${zone.slice(0, 3)}:${zone.slice(3)}`;
  const text = `${year}-${month}-${day}T${hour}:${minute}:${second}`;
  const utc = new Date(`${text}Z`);
  // Date takes 24:00 and, in some months, the 31st.
  if (Number.isNaN(utc.getTime()) || !utc.toISOString().startsWith(text)) return undefined;
  const time = Date.parse(`${text}${offset}`);
  return Number.isNaN(time) ? undefined : time;
}
