import { carriageReturn, isAlphanumeric, isBlank, isBlankOrEnd, isBreakOrEnd, lineFeed } from './yaml-characters.ts';
import { YamlError } from './yaml-error.ts';

/** A YAML text with the position up to which it has been read. */
export class YamlText {
  /** Number of UTF-16 code units read so far. */
  at = 0;
  /** Number of lines read so far. */
  line = 0;
  readonly #text: string;
  /** Number of characters before the line. */
  #lineIndex = 0;
  /** Number of surrogate pairs before `#paired`: each is one character. */
  #pairs = 0;
  #paired = 0;
  readonly #hasPairs: boolean;

  constructor(text: string) {
    this.#text = text;
    this.#hasPairs = /[\ud800-\udbff]/.test(text);
  }

  /** Returns a code unit at or after the position; NaN past the end. */
  code(offset = 0): number {
    return this.#text.charCodeAt(this.at + offset);
  }

  /** Number of characters before the position. */
  index(): number {
    if (!this.#hasPairs) return this.at;
    for (; this.#paired < this.at; this.#paired += 1) {
      if ((this.#text.charCodeAt(this.#paired) & 0xfc00) === 0xdc00) this.#pairs += 1;
    }
    return this.at - this.#pairs;
  }

  /** Column of the position, counted from 0. */
  column(): number {
    return this.index() - this.#lineIndex;
  }

  /** Skips a line break, and returns its value in a scalar. */
  readLine(): string {
    const code = this.code();
    this.at += code === carriageReturn && this.code(1) === lineFeed ? 2 : 1;
    this.line += 1;
    this.#lineIndex = this.index();
    return code === 0x2028 || code === 0x2029 ? String.fromCharCode(code) : '\n';
  }

  skipBlanks(): void {
    while (isBlank(this.code())) this.at += 1;
  }

  skipComment(): void {
    if (this.code() === 0x23) while (!isBreakOrEnd(this.code())) this.at += 1;
  }

  /** True before `---` or `...` at the beginning of a line. */
  isDocumentIndicator(): boolean {
    const code = this.code();
    if (code !== 0x2d && code !== 0x2e) return false;
    return this.column() === 0 && this.code(1) === code && this.code(2) === code && isBlankOrEnd(this.code(3));
  }

  /** Returns an error with upstream's text, which names the line. */
  error(problem: string): YamlError {
    return new YamlError(`yaml: ${this.line === 0 ? '' : `line ${this.line + 1}: `}${problem}`);
  }

  /** Ends the last line, which has no line break. */
  endLine(): void {
    if (this.column() === 0) return;
    this.line += 1;
    this.#lineIndex = this.index();
  }

  /** Reads letters, digits, `_` and `-`. */
  word(): string {
    const from = this.at;
    while (isAlphanumeric(this.code())) this.at += 1;
    return this.slice(from);
  }

  /** Returns the text from an index to the position, or to another index. */
  slice(from: number, to = this.at): string {
    return this.#text.slice(from, to);
  }
}
