import { Buffer } from 'node:buffer';
import { atOnce, type Steps } from '../steps.ts';

/** Number of input bytes between two yields. */
const stepBytes = 16 * 1024;
/** Size of an output piece in bytes. */
const outBytes = 64 * 1024;
/** Maximum size of the output in bytes, unless `maxGrowth` allows more. Deep lines start with long indents. */
const maxBytes = 64 * 1024 * 1024;
/** Maximum ratio of output to input for large inputs. */
const maxGrowth = 32;

/** Error for a text that is so deep that indenting would multiply its length. */
export class IndentTooLongError extends Error {
  constructor() {
    super('nested too deeply for indented output');
  }
}

const newline = 0x0a;
const space = 0x20;
const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/**
 * Indents JSON by two spaces, like Go's json.Indent: empty objects and arrays stay `{}` and `[]`, scalars are unchanged. The input has no
 * white space between tokens.
 */
export function indentJson(text: string): string {
  return Buffer.concat(atOnce(indentSteps([Buffer.from(text)]))).toString('utf8');
}

/**
 * Like `indentJson`, for UTF-8 pieces cut anywhere, without white space between tokens except newlines (which are dropped); the output
 * pieces are cut elsewhere. Throws IndentTooLongError.
 */
export function* indentSteps(pieces: readonly Buffer[]): Steps<Buffer[]> {
  const total = pieces.reduce((sum, { length }) => sum + length, 0);
  const indenter = new Indenter(Math.max(maxBytes, total * maxGrowth));
  for (const piece of pieces) {
    for (let at = 0; at < piece.length; at += stepBytes) {
      indenter.push(piece.subarray(at, at + stepBytes));
      yield;
    }
  }
  return indenter.end();
}

class Indenter {
  readonly #maxPieces: number;
  readonly #done: Buffer[] = [];
  #out = Buffer.allocUnsafeSlow(outBytes);
  #length = 0;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  /** True after an opening bracket: the next token decides whether the container is empty. */
  #isOpened = false;

  constructor(limit: number) {
    this.#maxPieces = limit / outBytes;
  }

  push(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at]!;
      if (this.#isInString) {
        this.#put(byte);
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === backslash) this.#isEscaped = true;
        else if (byte === quote) this.#isInString = false;
        continue;
      }
      if (byte === newline) continue;
      const isEnd = byte === closeBrace || byte === closeBracket;
      if (this.#isOpened) {
        this.#isOpened = false;
        if (isEnd) {
          this.#put(byte);
          continue;
        }
        this.#depth += 1;
        this.#breakLine();
      } else if (isEnd) {
        this.#depth -= 1;
        this.#breakLine();
      }
      this.#put(byte);
      if (byte === quote) this.#isInString = true;
      else if (byte === comma) this.#breakLine();
      else if (byte === colon) this.#put(space);
      else if (byte === openBrace || byte === openBracket) this.#isOpened = true;
    }
  }

  end(): Buffer[] {
    this.#done.push(this.#out.subarray(0, this.#length));
    return this.#done;
  }

  #breakLine(): void {
    this.#put(newline);
    for (let i = this.#depth * 2; i > 0; i -= 1) this.#put(space);
  }

  #put(byte: number): void {
    if (this.#length === outBytes) {
      if (this.#done.length >= this.#maxPieces) throw new IndentTooLongError();
      this.#done.push(this.#out);
      this.#out = Buffer.allocUnsafeSlow(outBytes);
      this.#length = 0;
    }
    this.#out[this.#length++] = byte;
  }
}
