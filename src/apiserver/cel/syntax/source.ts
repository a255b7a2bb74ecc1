/** The text of an expression and its issues, formatted like cel-go. Upstream: cel-go common/source.go, error.go, errors.go. */

/** Errors beyond this number are only counted. */
const maxErrorsToReport = 100;
/** Maximum length of a line shown in messages. */
const maxSnippetLength = 16_384;

/** An issue in an expression. `offset` counts UTF-16 units; undefined if it has no position. */
export interface Issue {
  readonly message: string;
  readonly offset: number | undefined;
}

/** A text with its line offsets. */
export class Source {
  readonly #lineStarts: number[] = [0];

  constructor(
    readonly text: string,
    readonly description = '<input>',
  ) {
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) this.#lineStarts.push(at + 1);
  }

  /** Returns line (from 1) and column (from 0, in code points) of an offset. In an empty text, cel-go has the column before the first. */
  location(offset: number): { line: number; column: number } {
    if (this.text === '') return { line: 1, column: -1 };
    let line = 1;
    while (line < this.#lineStarts.length && this.#lineStarts[line]! <= offset) line++;
    return { line, column: [...this.text.slice(this.#lineStarts[line - 1], offset)].length };
  }

  /** Returns the text of a line without its line break. */
  line(line: number): string {
    const end = this.#lineStarts[line];
    return this.text.slice(this.#lineStarts[line - 1], end === undefined ? undefined : end - 1);
  }
}

/** The issues of an expression in the order of their discovery. */
export class Issues {
  readonly #issues: Issue[] = [];
  #count = 0;

  constructor(readonly source: Source) {}

  get length(): number {
    return this.#count;
  }

  report(message: string, offset?: number): void {
    this.#count++;
    if (this.#count <= maxErrorsToReport) this.#issues.push({ message, offset });
  }

  list(): readonly Issue[] {
    return this.#issues;
  }

  /** Formats each issue with its line and a marker, sorted by position, as upstream's clients see it. */
  toString(): string {
    const placed = this.#issues.map((issue) => {
      const { line, column } = issue.offset === undefined ? { line: -1, column: -1 } : this.source.location(issue.offset);
      return { message: issue.message, line, column };
    });
    placed.sort((a, b) => a.line - b.line || a.column - b.column);
    const lines = placed.map(
      (issue) => `ERROR: ${this.source.description}:${issue.line}:${issue.column + 1}: ${issue.message}${this.#snippet(issue)}`,
    );
    if (this.#count > maxErrorsToReport) lines.push(`${this.#count - maxErrorsToReport} more errors were truncated`);
    return lines.join('\n');
  }

  #snippet({ line, column }: { line: number; column: number }): string {
    if (line < 1 || this.source.text === '') return '';
    const text = this.source.line(line).replaceAll('\t', ' ');
    if (Buffer.byteLength(text) > maxSnippetLength) return '';
    const chars = [...text];
    let mark = '';
    for (const char of chars.slice(0, column)) mark += isWide(char) ? '\uff0e' : '.';
    return `\n | ${text}\n | ${mark}${isWide(chars[column]) ? '\uff3e' : '^'}`;
  }
}

function isWide(char: string | undefined): boolean {
  return char !== undefined && char.codePointAt(0)! > 0x7f;
}
