import { Buffer } from 'node:buffer';
import { encodeString, needsEscape } from './json.ts';

const initialBytes = 64 * 1024;
/** A larger buffer is released, since such texts are not typical. */
const keptBytes = 1024 * 1024;
/** A buffer may be handed out if at most the fraction 1/16 of it is unused. */
const mostUnused = 16;

/** Texts up to this length are written by a loop, since a native call takes longer. */
const shortText = 32;

/** Number of initial texts that use native calls: until the loop is compiled, it is ten times slower, which would affect startup. */
const coldTexts = 20_000;

/** For longer texts, the bytes are counted before the buffer grows. */
const countedText = 4 * 1024;

const quote = 0x22;

/** ASCII characters, by code, that Go's JSON does not escape. */
const plain = new Uint8Array(128).fill(1);
plain.fill(0, 0, 0x20);
for (const char of '"\\<>&') plain[char.charCodeAt(0)] = 0;

/**
 * Writes JSON as UTF-8 into a buffer that is reused: half the cost of concatenating, flattening and encoding strings. Texts do not nest.
 */
export class JsonWriter {
  #buffer = Buffer.allocUnsafeSlow(initialBytes);
  #at = 0;
  #cold = coldTexts;

  /** Offset of the next byte. */
  get at(): number {
    return this.#at;
  }

  /** Starts a text. `partBytes` is the known size of prebuilt parts to follow. */
  begin(partBytes = 0): void {
    if (partBytes > initialBytes) this.#buffer = Buffer.allocUnsafeSlow(partBytes + initialBytes);
    else if (this.#buffer.length > keptBytes) this.#buffer = Buffer.allocUnsafeSlow(initialBytes);
    this.#at = 0;
  }

  /** Ends the text and returns it: the buffer itself if it is large and nearly full. */
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

  /** Discards everything from an offset on. */
  rewind(at: number): void {
    this.#at = at;
  }

  /** Closes an object or list that started at `start` with a comma before each part. `open` and `close` are bracket codes. */
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

  /** Writes a text as is, such as JSON from elsewhere. */
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

  /** Writes UTF-8 JSON from elsewhere. */
  bytes(bytes: Buffer): void {
    this.#reserve(bytes.length);
    this.#buffer.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  /** Writes a text without escapes, in quotes. */
  quoted(text: string): void {
    this.byte(quote);
    this.text(text);
    this.byte(quote);
  }

  /** Writes a string like Go. */
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

  /** True if exactly these two bytes were written since `start`. */
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
