import { Buffer } from 'node:buffer';
import { encodeString, needsEscape } from './json.ts';

const initialBytes = 64 * 1024;
/** A text that took more is not typical, and its room is given back. */
const keptBytes = 1024 * 1024;
/** No more than this part of a buffer that is given away may be without use. */
const mostUnused = 16;

/** A text with no more characters is written by a loop: to call the engine takes longer. */
const shortText = 32;

/** So many texts at first are all left to the engine: before the loop is compiled, which a start does not live to see, it takes ten times as long. */
const coldTexts = 20_000;

/** Of a longer one the bytes are counted before there is made room for them. */
const countedText = 4 * 1024;

const quote = 0x22;

/** ASCII characters that stand for themselves in Go's JSON, by code. */
const plain = new Uint8Array(128).fill(1);
plain.fill(0, 0, 0x20);
for (const char of '"\\<>&') plain[char.charCodeAt(0)] = 0;

/**
 * JSON as UTF-8 in a buffer that one text after the other uses: bytes where they belong at once are half the work of strings that
 * are joined, flattened and then encoded. Texts do not nest.
 */
export class JsonWriter {
  #buffer = Buffer.allocUnsafeSlow(initialBytes);
  #at = 0;
  #cold = coldTexts;

  /** Where the next byte goes. */
  get at(): number {
    return this.#at;
  }

  /** `partBytes`: so many of what follows are known to be there, of parts that were made before. */
  begin(partBytes = 0): void {
    if (partBytes > initialBytes) this.#buffer = Buffer.allocUnsafeSlow(partBytes + initialBytes);
    else if (this.#buffer.length > keptBytes) this.#buffer = Buffer.allocUnsafeSlow(initialBytes);
    this.#at = 0;
  }

  /** What was written since `begin`, and ends it: the buffer itself where it is a large one, and nearly full. */
  toBuffer(): Buffer {
    const { length } = this.#buffer;
    if (length > keptBytes && this.#at > length - length / mostUnused) {
      const whole = this.#buffer.subarray(0, this.#at);
      this.#buffer = Buffer.allocUnsafeSlow(initialBytes);
      this.#at = 0;
      return whole;
    }
    const bytes = Buffer.allocUnsafe(this.#at);
    this.#buffer.copy(bytes, 0, 0, this.#at);
    return bytes;
  }

  toString(): string {
    return this.#buffer.toString('utf8', 0, this.#at);
  }

  /** Takes back what was written from here on. */
  rewind(at: number): void {
    this.#at = at;
  }

  /** Ends an object or a list that began at `start` with a comma before each of its parts. `open`, `close`: codes of the brackets. */
  close(start: number, open: number, close: number): void {
    this.#reserve(2);
    if (this.#at === start) this.#at += 1;
    this.#buffer[start] = open;
    this.#buffer[this.#at] = close;
    this.#at += 1;
  }

  byte(code: number): void {
    this.#reserve(1);
    this.#buffer[this.#at] = code;
    this.#at += 1;
  }

  /** A text as it is, such as JSON that was made elsewhere. */
  text(text: string): void {
    const { length } = text;
    if (length > shortText || this.#isCold()) return this.#encoded(text);
    this.#reserve(length);
    const buffer = this.#buffer;
    let at = this.#at;
    for (let i = 0; i < length; i += 1) {
      const code = text.charCodeAt(i);
      if (code > 0x7f) return this.#encoded(text);
      buffer[at] = code;
      at += 1;
    }
    this.#at = at;
  }

  /** JSON in UTF-8 that was made elsewhere. */
  bytes(bytes: Buffer): void {
    this.#reserve(bytes.length);
    this.#buffer.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  /** A text that stands for itself, in quotes. */
  quoted(text: string): void {
    this.byte(quote);
    this.text(text);
    this.byte(quote);
  }

  /** A string as Go writes it. */
  string(text: string): void {
    const { length } = text;
    if (length > shortText || this.#cold > 0) return needsEscape.test(text) ? this.#encoded(encodeString(text)) : this.quoted(text);
    this.#reserve(length + 2);
    const buffer = this.#buffer;
    let at = this.#at;
    buffer[at] = quote;
    at += 1;
    for (let i = 0; i < length; i += 1) {
      const code = text.charCodeAt(i);
      if (code > 0x7f || plain[code] === 0) return this.#encoded(encodeString(text));
      buffer[at] = code;
      at += 1;
    }
    buffer[at] = quote;
    this.#at = at + 1;
  }

  #isCold(): boolean {
    if (this.#cold === 0) return false;
    this.#cold -= 1;
    return true;
  }

  #encoded(text: string): void {
    // A UTF-16 unit has at most three bytes.
    this.#reserve(text.length > countedText ? Buffer.byteLength(text) : text.length * 3);
    this.#at += this.#buffer.write(text, this.#at, 'utf8');
  }

  /** Whether what was written since `start` are these two bytes. */
  isPair(start: number, first: number, second: number): boolean {
    return this.#at - start === 2 && this.#buffer[start] === first && this.#buffer[start + 1] === second;
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#buffer.length * 2, this.#at + bytes));
    this.#buffer.copy(larger, 0, 0, this.#at);
    this.#buffer = larger;
  }
}
