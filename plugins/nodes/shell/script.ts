/** Thrown for a script that the simulated shell cannot run, such as one with an array. */
export class UnsupportedScriptError extends Error {}

/** Commands and the operators that join each to the previous one. */
export type Script = readonly { readonly join: ';' | '&&' | '||'; readonly pipeline: Pipeline }[];

/** Commands that pass their output on to the next one; with `!`, success and failure are exchanged. */
export interface Pipeline {
  readonly isNegated: boolean;
  readonly commands: readonly Command[];
}

export type Command = (
  | { readonly kind: 'simple'; readonly words: readonly Word[] }
  | { readonly kind: 'if'; readonly branches: readonly { readonly condition: Script; readonly body: Script }[]; readonly otherwise: Script }
  | { readonly kind: 'for'; readonly variable: string; readonly words: readonly Word[]; readonly body: Script }
  | { readonly kind: 'while'; readonly isUntil: boolean; readonly condition: Script; readonly body: Script }
  | {
      readonly kind: 'case';
      readonly word: Word;
      readonly branches: readonly { readonly patterns: readonly Word[]; readonly body: Script }[];
    }
  | { readonly kind: 'background'; readonly body: Script }
  | { readonly kind: 'group'; readonly isSubshell: boolean; readonly body: Script }
  | { readonly kind: 'function'; readonly name: string; readonly body: Command }
) & { readonly redirections: readonly Redirection[] };

/** `operator` is `>`, `>>`, `<`, `>&` with the number of a stream as target, or `<<` with the text of a here-document. */
export interface Redirection {
  readonly stream: number;
  readonly operator: '>' | '>>' | '<' | '>&' | '<<';
  readonly target: Word;
}

/** Parts of a word; unquoted results of an expansion are split into fields. */
export type Word = readonly Part[];
export type Part =
  | { readonly kind: 'text'; readonly text: string; readonly isQuoted: boolean }
  | { readonly kind: 'variable'; readonly name: string; readonly operation?: Operation; readonly isQuoted: boolean }
  | { readonly kind: 'substitution'; readonly script: Script; readonly isQuoted: boolean }
  | { readonly kind: 'arithmetic'; readonly expression: Word; readonly isQuoted: boolean };

/** Operation of an expansion on a variable: `${NAME:-WORD}`, `${NAME%PATTERN}` or `${#NAME}`. */
export interface Operation {
  readonly operator: (typeof operators)[number] | 'length';
  readonly word: Word;
}

const operators = [':-', ':=', ':+', ':?', '##', '%%', '-', '=', '+', '?', '#', '%'] as const;
const maxScriptLength = 65_536;
const maxNesting = 32;

/**
 * Parses a script: simple commands, pipelines, `&&`, `||`, `&`, `if`, `for`, `while`, `until`, `case`, groups, functions, redirections,
 * here-documents, quotes and expansions. Throws UnsupportedScriptError for any other syntax. Upstream: the Shell Command Language of POSIX.
 */
export function parseScript(script: string): Script {
  if (script.length > maxScriptLength) throw new UnsupportedScriptError('the script is too long');
  return new ScriptParser(script, 0).parse();
}

const unsupportedWords: ReadonlySet<string> = new Set(['function', 'select', 'time']);
/** Words that end or divide a compound command. */
const closers: ReadonlySet<string> = new Set(['then', 'elif', 'else', 'fi', 'do', 'done', 'esac', 'in', '}']);
const namePattern = /[A-Za-z_]\w*/y;
const functionPattern = /([A-Za-z_]\w*)[ \t]*\([ \t]*\)/y;

class ScriptParser {
  #at = 0;

  constructor(
    private text: string,
    private nesting: number,
  ) {}

  parse(): Script {
    const script = this.#script([]);
    if (this.#at < this.text.length) throw new UnsupportedScriptError(`unexpected ${JSON.stringify(this.text[this.#at])}`);
    return script;
  }

  /** Parses commands up to one of the words, to a closing parenthesis, or to the end of a branch of `case`. */
  #script(ends: readonly string[]): Script {
    if (++this.nesting > maxNesting) throw new UnsupportedScriptError('the script is nested too deeply');
    const script: { join: ';' | '&&' | '||'; pipeline: Pipeline }[] = [];
    let join: ';' | '&&' | '||' = ';';
    let listStart = 0;
    for (;;) {
      this.#skip(/(?:[ \t\n]|;(?!;)|\\\n|#[^\n]*)+/y);
      const word = this.#peekReserved();
      const isEnd = this.#at >= this.text.length || this.text[this.#at] === ')' || this.text.startsWith(';;', this.#at);
      if (isEnd || (word !== undefined && ends.includes(word))) break;
      if (join === ';') listStart = script.length;
      script.push({ join, pipeline: this.#pipeline() });
      this.#blanks();
      join = this.#take('&&') ? '&&' : this.#take('||') ? '||' : ';';
      if (join === ';' && this.#take('&')) {
        if (this.text[this.#at] === '>') throw new UnsupportedScriptError('the redirection &> is not simulated');
        const body = script.splice(listStart);
        script.push({ join, pipeline: { isNegated: false, commands: [{ kind: 'background', body, redirections: [] }] } });
      }
    }
    if (join !== ';') throw new UnsupportedScriptError(`a command is missing after ${join}`);
    this.nesting -= 1;
    return script;
  }

  #pipeline(): Pipeline {
    let isNegated = false;
    while (this.#takeReserved('!')) isNegated = !isNegated;
    const commands = [this.#command()];
    for (this.#blanks(); this.text[this.#at] === '|' && this.text[this.#at + 1] !== '|'; this.#blanks()) {
      this.#at += 1;
      this.#skip(/[ \t\n]+/y);
      commands.push(this.#command());
    }
    return { isNegated, commands };
  }

  #command(): Command {
    const word = this.#peekReserved();
    if (word !== undefined && (unsupportedWords.has(word) || closers.has(word)))
      throw new UnsupportedScriptError(closers.has(word) ? `unexpected ${word}` : `${word} is not simulated`);
    if (this.#takeReserved('if')) return this.#if();
    if (this.#takeReserved('for')) return this.#for();
    if (this.#takeReserved('while')) return this.#while(false);
    if (this.#takeReserved('until')) return this.#while(true);
    if (this.#takeReserved('case')) return this.#case();
    if (this.#takeReserved('{')) return this.#group(false, '}');
    if (this.#take('(')) return this.#group(true, ')');
    const name = this.#match(functionPattern)?.[1];
    return name === undefined ? this.#simple() : this.#function(name);
  }

  #if(): Command {
    const branches = [];
    let otherwise: Script = [];
    do {
      const condition = this.#script(['then']);
      this.#expect('then');
      branches.push({ condition, body: this.#script(['elif', 'else', 'fi']) });
    } while (this.#takeReserved('elif'));
    if (this.#takeReserved('else')) otherwise = this.#script(['fi']);
    this.#expect('fi');
    return { kind: 'if', branches, otherwise, redirections: this.#redirections() };
  }

  #for(): Command {
    this.#blanks();
    const variable = this.#match(namePattern)?.[0];
    if (variable === undefined) throw new UnsupportedScriptError('this loop is not simulated');
    this.#skip(/[ \t\n]+/y);
    this.#expect('in');
    const words: Word[] = [];
    for (this.#blanks(); !this.#isAtEnd(); this.#blanks()) words.push(this.#word());
    this.#skip(/[ \t\n;]+/y);
    return { kind: 'for', variable, words, body: this.#loopBody(), redirections: this.#redirections() };
  }

  #while(isUntil: boolean): Command {
    const condition = this.#script(['do']);
    return { kind: 'while', isUntil, condition, body: this.#loopBody(), redirections: this.#redirections() };
  }

  #case(): Command {
    this.#blanks();
    const word = this.#word();
    this.#skip(/[ \t\n]+/y);
    this.#expect('in');
    const branches: { patterns: Word[]; body: Script }[] = [];
    for (this.#skipLines(); !this.#takeReserved('esac'); this.#skipLines()) {
      this.#take('(');
      const patterns: Word[] = [];
      do {
        this.#blanks();
        if (this.#isAtEnd()) throw new UnsupportedScriptError('a pattern of case is missing');
        patterns.push(this.#word());
        this.#blanks();
      } while (this.#take('|'));
      if (!this.#take(')')) throw new UnsupportedScriptError(') is missing');
      branches.push({ patterns, body: this.#script(['esac']) });
      if (!this.#take(';;') && this.#peekReserved() !== 'esac') throw new UnsupportedScriptError('esac is missing');
    }
    return { kind: 'case', word, branches, redirections: this.#redirections() };
  }

  #loopBody(): Script {
    this.#expect('do');
    const body = this.#script(['done']);
    this.#expect('done');
    return body;
  }

  #group(isSubshell: boolean, end: string): Command {
    const body = this.#script([end]);
    if (!(isSubshell ? this.#take(end) : this.#takeReserved(end))) throw new UnsupportedScriptError(`${end} is missing`);
    return { kind: 'group', isSubshell, body, redirections: this.#redirections() };
  }

  #function(name: string): Command {
    this.#skipLines();
    const body = this.#command();
    if (body.kind === 'simple') throw new UnsupportedScriptError('the body of a function is not a compound command');
    return { kind: 'function', name, body, redirections: [] };
  }

  #redirections(): Redirection[] {
    const redirections: Redirection[] = [];
    for (this.#blanks(); ; this.#blanks()) {
      const redirection = this.#redirection();
      if (!redirection) return redirections;
      redirections.push(redirection);
    }
  }

  #simple(): Command {
    const words: Word[] = [];
    const redirections: Redirection[] = [];
    for (this.#blanks(); !this.#isAtEnd(); this.#blanks()) {
      const redirection = this.#redirection();
      if (redirection) redirections.push(redirection);
      else words.push(this.#word());
    }
    if (this.text[this.#at] === '(') throw new UnsupportedScriptError('unexpected "("');
    if (words.length === 0 && redirections.length === 0)
      throw new UnsupportedScriptError(`unexpected ${JSON.stringify(this.text[this.#at] ?? 'end')}`);
    return { kind: 'simple', words, redirections };
  }

  #isAtEnd(): boolean {
    return this.#at >= this.text.length || '\n;&|()'.includes(this.text[this.#at] as string);
  }

  #redirection(): Redirection | undefined {
    const match = this.#match(/(\d?)(>>|>&|<<-?|<&|>|<)/y);
    if (!match) return undefined;
    const operator = match[2] as string;
    if (operator === '<<' || operator === '<<-') return { stream: 0, operator: '<<', target: this.#hereDocument(operator === '<<-') };
    if (operator === '<&') throw new UnsupportedScriptError(`${operator} is not simulated`);
    const stream = match[1] ? Number(match[1]) : operator === '<' ? 0 : 1;
    this.#blanks();
    const isKnown = operator === '<' ? stream === 0 : stream === 1 || stream === 2;
    if (!isKnown || this.#isAtEnd()) throw new UnsupportedScriptError(`the redirection ${match[0]} is not simulated`);
    return { stream, operator: operator as Redirection['operator'], target: this.#word() };
  }

  /** Takes the lines after the present one up to the delimiter out of the script. A delimiter with quotes leaves them as they are. */
  #hereDocument(stripsTabs: boolean): Word {
    this.#blanks();
    const delimiter = this.#word();
    const isQuoted = delimiter.some((part) => part.isQuoted);
    const end = delimiter.map((part) => (part.kind === 'text' ? part.text : '')).join('');
    const line = this.text.indexOf('\n', this.#at) + 1;
    const rest = this.text.slice(this.#at, line);
    if (line === 0 || end === '' || /['"`]/.test(rest)) throw new UnsupportedScriptError('this here-document is not simulated');
    const lines: string[] = [];
    for (let at = line; at < this.text.length; ) {
      const next = (this.text.indexOf('\n', at) + 1 || this.text.length + 1) - 1;
      const text = stripsTabs ? this.text.slice(at, next).replace(/^\t+/, '') : this.text.slice(at, next);
      at = next + 1;
      if (text === end) {
        this.text = this.text.slice(0, line) + this.text.slice(at);
        const body = lines.map((one) => `${one}\n`).join('');
        return isQuoted ? [textPart(body, true)] : new ScriptParser(body, this.nesting).#template();
      }
      lines.push(text);
    }
    throw new UnsupportedScriptError(`the here-document up to ${end} has no end`);
  }

  /** Parses the text of a here-document. */
  #template(): Word {
    const parts: Part[] = [];
    this.#quoted(parts, undefined);
    return parts;
  }

  #word(): Word {
    const parts: Part[] = [];
    for (let isFirst = true; !this.#isAtEnd(); isFirst = false) {
      const char = this.text[this.#at] as string;
      if (char === ' ' || char === '\t' || char === '<' || char === '>') break;
      this.#at += 1;
      if (char === "'") parts.push(textPart(this.#until("'"), true));
      else if (char === '"') this.#quoted(parts, '"');
      else if (char === '`') parts.push(this.#backquoted(false));
      else if (char === '$') parts.push(this.#expansion(false));
      else if (char === '\\') this.#escaped(parts);
      else if (char === '~' && isFirst) parts.push({ kind: 'variable', name: 'HOME', isQuoted: true });
      else parts.push(textPart(char + (this.#match(/[^\s;&|()<>'"`$\\]+/y)?.[0] ?? ''), false));
    }
    return parts;
  }

  #escaped(parts: Part[]): void {
    const char = this.text[this.#at++] ?? '';
    if (char !== '\n') parts.push(textPart(char, true));
  }

  #until(end: string): string {
    const at = this.text.indexOf(end, this.#at);
    if (at < 0) throw new UnsupportedScriptError('unterminated quoted string');
    const text = this.text.slice(this.#at, at);
    this.#at = at + 1;
    return text;
  }

  /** Parses text up to a double quote, or to the end, in which only dollar signs, backquotes and backslashes have a meaning. */
  #quoted(parts: Part[], end: '"' | undefined): void {
    parts.push(textPart('', true));
    for (;;) {
      const char = this.text[this.#at++];
      if (char === end) return;
      if (char === undefined) throw new UnsupportedScriptError('unterminated quoted string');
      if (char === '`') parts.push(this.#backquoted(true));
      else if (char === '$') parts.push(this.#expansion(true));
      else if (char === '\\' && `${end ?? ''}\\$\`\n`.includes(this.text[this.#at] ?? ' ')) this.#escaped(parts);
      else parts.push(textPart(char + (this.#match(/[^"`$\\]+/y)?.[0] ?? ''), true));
    }
  }

  #backquoted(isQuoted: boolean): Part {
    const inner = this.#until('`');
    if (inner.includes('\\')) throw new UnsupportedScriptError('escapes in backquotes are not simulated');
    return { kind: 'substitution', script: new ScriptParser(inner, this.nesting).parse(), isQuoted };
  }

  /** Parses what follows a dollar sign. */
  #expansion(isQuoted: boolean): Part {
    if (this.#take('((')) return { kind: 'arithmetic', expression: this.#arithmetic(), isQuoted };
    if (this.#take('(')) {
      const script = this.#script([]);
      if (!this.#take(')')) throw new UnsupportedScriptError(') is missing');
      return { kind: 'substitution', script, isQuoted };
    }
    if (this.#take('{')) return this.#braced(isQuoted);
    const name = this.#match(/[A-Za-z_]\w*|[?$#@*!]|\d/y)?.[0];
    return name === undefined ? textPart('$', isQuoted) : { kind: 'variable', name, isQuoted };
  }

  /** Parses the rest of `${NAME}`, `${#NAME}`, or `${NAME OPERATOR WORD}`. */
  #braced(isQuoted: boolean): Part {
    const length = this.#match(/#([A-Za-z_]\w*|\d)(?=\})/y)?.[1];
    const name = length ?? this.#match(/[A-Za-z_]\w*|[?$#@*!]|\d/y)?.[0];
    const operator = length === undefined ? operators.find((one) => this.#take(one)) : 'length';
    const word = operator && operator !== 'length' ? this.#operand() : [];
    if (name === undefined || !this.#take('}')) throw new UnsupportedScriptError('this expansion is not simulated');
    return { kind: 'variable', name, isQuoted, ...(operator && { operation: { operator, word } }) };
  }

  /** Parses the word of `${NAME:-WORD}`: text, quoted or not, and simple variables. */
  #operand(): Word {
    const parts: Part[] = [];
    for (;;) {
      const text = this.#match(/[^}$"'`\\]+/y)?.[0];
      if (text !== undefined) parts.push(textPart(text, false));
      else if (this.#take("'")) parts.push(textPart(this.#until("'"), true));
      else if (this.#take('"')) this.#quoted(parts, '"');
      else if (this.text[this.#at] === '$' && ++this.#at) parts.push(this.#simpleVariable());
      else return parts;
    }
  }

  /** Parses the expression of `$((EXPRESSION))`, up to its end. */
  #arithmetic(): Word {
    const parts: Part[] = [];
    for (let depth = 0; ; ) {
      const text = this.#match(/[^()$'"`\\;]+/y)?.[0];
      if (text !== undefined) parts.push(textPart(text, true));
      else if (depth === 0 && this.#take('))')) return parts;
      else if (this.#take('(')) parts.push(textPart('(', true)) && (depth += 1);
      else if (depth > 0 && this.#take(')')) parts.push(textPart(')', true)) && (depth -= 1);
      else if (this.#take('$')) parts.push(this.#simpleVariable());
      else throw new UnsupportedScriptError('this arithmetic is not simulated');
    }
  }

  #simpleVariable(): Part {
    const match = this.#match(/\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*|[?$#]|\d)/y);
    if (!match) throw new UnsupportedScriptError('this expansion is not simulated');
    return { kind: 'variable', name: (match[1] ?? match[2]) as string, isQuoted: true };
  }

  #blanks(): void {
    this.#skip(/(?:[ \t]|\\\n)+/y);
    // A comment starts a word.
    if (this.text[this.#at] === '#' && /^[\s;]?$/.test(this.text[this.#at - 1] ?? '')) this.#skip(/#[^\n]*/y);
  }

  /** Skips blanks, ends of lines and comments. */
  #skipLines(): void {
    this.#skip(/(?:[ \t\n]|\\\n|#[^\n]*\n)+/y);
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.text);
    if (match) this.#at += match[0].length;
    return match;
  }

  #skip(pattern: RegExp): void {
    this.#match(pattern);
  }

  #take(text: string): boolean {
    if (!this.text.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  /** Returns the word at the beginning of a command if the grammar may give it a meaning. */
  #peekReserved(): string | undefined {
    const match = /^(?:[a-z]+|[{}!])(?=[\s;&|()<>]|$)/.exec(this.text.slice(this.#at, this.#at + 16));
    return match?.[0];
  }

  #takeReserved(word: string): boolean {
    this.#blanks();
    if (this.#peekReserved() !== word) return false;
    this.#at += word.length;
    return true;
  }

  #expect(word: string): void {
    if (!this.#takeReserved(word)) throw new UnsupportedScriptError(`${word} is missing`);
  }
}

function textPart(text: string, isQuoted: boolean): Part {
  return { kind: 'text', text, isQuoted };
}
