/** Thrown for a script that the simulated shell cannot run, such as one with a background command. */
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
  | { readonly kind: 'group'; readonly isSubshell: boolean; readonly body: Script }
  | { readonly kind: 'function'; readonly name: string; readonly body: Command }
) & { readonly redirections: readonly Redirection[] };

/** `operator` is `>`, `>>`, `<`, or `>&` with the number of a stream as target. */
export interface Redirection {
  readonly stream: number;
  readonly operator: '>' | '>>' | '<' | '>&';
  readonly target: Word;
}

/** Parts of a word; unquoted results of an expansion are split into fields. */
export type Word = readonly Part[];
export type Part =
  | { readonly kind: 'text'; readonly text: string; readonly isQuoted: boolean }
  | { readonly kind: 'variable'; readonly name: string; readonly fallback: Word | undefined; readonly isQuoted: boolean }
  | { readonly kind: 'substitution'; readonly script: Script; readonly isQuoted: boolean }
  | { readonly kind: 'arithmetic'; readonly expression: Word; readonly isQuoted: boolean };

const maxScriptLength = 65_536;
const maxNesting = 32;

/**
 * Parses a script: simple commands, pipelines, `&&`, `||`, `if`, `for`, `while`, `until`, groups, functions, redirections, quotes and expansions.
 * Throws UnsupportedScriptError for any other syntax. Upstream: the Shell Command Language of POSIX.
 */
export function parseScript(script: string): Script {
  if (script.length > maxScriptLength) throw new UnsupportedScriptError('the script is too long');
  return new ScriptParser(script, 0).parse();
}

const unsupportedWords: ReadonlySet<string> = new Set(['case', 'esac', 'function', 'select', 'time']);
/** Words that end or divide a compound command. */
const closers: ReadonlySet<string> = new Set(['then', 'elif', 'else', 'fi', 'do', 'done', 'in', '}']);
const namePattern = /[A-Za-z_]\w*/y;
const functionPattern = /([A-Za-z_]\w*)[ \t]*\([ \t]*\)/y;

class ScriptParser {
  #at = 0;

  constructor(
    private readonly text: string,
    private nesting: number,
  ) {}

  parse(): Script {
    const script = this.#script([]);
    if (this.#at < this.text.length) throw new UnsupportedScriptError(`unexpected ${JSON.stringify(this.text[this.#at])}`);
    return script;
  }

  /** Parses commands up to one of the words, or up to a closing parenthesis. */
  #script(ends: readonly string[]): Script {
    if (++this.nesting > maxNesting) throw new UnsupportedScriptError('the script is nested too deeply');
    const script: { join: ';' | '&&' | '||'; pipeline: Pipeline }[] = [];
    let join: ';' | '&&' | '||' = ';';
    for (;;) {
      this.#skip(/(?:[ \t\n;]|\\\n|#[^\n]*)+/y);
      const word = this.#peekReserved();
      if (this.#at >= this.text.length || this.text[this.#at] === ')' || (word !== undefined && ends.includes(word))) break;
      script.push({ join, pipeline: this.#pipeline() });
      this.#blanks();
      join = this.#take('&&') ? '&&' : this.#take('||') ? '||' : ';';
      if (join === ';' && this.text[this.#at] === '&') throw new UnsupportedScriptError('background commands are not simulated');
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
    this.#skip(/(?:[ \t\n]|#[^\n]*\n)+/y);
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
    const match = this.#match(/(\d?)(>>|>&|<<|<&|>|<)/y);
    if (!match) return undefined;
    const operator = match[2] as string;
    if (operator === '<<' || operator === '<&') throw new UnsupportedScriptError(`${operator} is not simulated`);
    const stream = match[1] ? Number(match[1]) : operator === '<' ? 0 : 1;
    this.#blanks();
    const isKnown = operator === '<' ? stream === 0 : stream === 1 || stream === 2;
    if (!isKnown || this.#isAtEnd()) throw new UnsupportedScriptError(`the redirection ${match[0]} is not simulated`);
    return { stream, operator: operator as Redirection['operator'], target: this.#word() };
  }

  #word(): Word {
    const parts: Part[] = [];
    for (let isFirst = true; !this.#isAtEnd(); isFirst = false) {
      const char = this.text[this.#at] as string;
      if (char === ' ' || char === '\t' || char === '<' || char === '>') break;
      this.#at += 1;
      if (char === "'") parts.push(textPart(this.#until("'"), true));
      else if (char === '"') this.#doubleQuoted(parts);
      else if (char === '`') parts.push(this.#backquoted(false));
      else if (char === '$') parts.push(this.#expansion(false));
      else if (char === '\\') this.#escaped(parts);
      else if (char === '~' && isFirst) parts.push({ kind: 'variable', name: 'HOME', fallback: undefined, isQuoted: true });
      else if (char === '*' || (char === '?' && isFirst) || (char === '[' && !this.#isTest()))
        throw new UnsupportedScriptError(`the pattern ${char} is not simulated`);
      else parts.push(textPart(char + (this.#match(/[^\s;&|()<>'"`$\\*[]+/y)?.[0] ?? ''), false));
    }
    return parts;
  }

  /** True after the first bracket of `[` or `[[` as a word. */
  #isTest(): boolean {
    return /^\[?(?:\s|$)/.test(this.text.slice(this.#at, this.#at + 2));
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

  #doubleQuoted(parts: Part[]): void {
    parts.push(textPart('', true));
    for (;;) {
      const char = this.text[this.#at++];
      if (char === undefined) throw new UnsupportedScriptError('unterminated quoted string');
      if (char === '"') return;
      if (char === '`') parts.push(this.#backquoted(true));
      else if (char === '$') parts.push(this.#expansion(true));
      else if (char === '\\' && '"\\$`\n'.includes(this.text[this.#at] ?? ' ')) this.#escaped(parts);
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
    const braced = this.#match(/\{([A-Za-z_]\w*|[?$#@*]|\d)(:?-)?/y);
    if (braced) {
      const fallback = braced[2] === undefined ? undefined : this.#fallback();
      if (!this.#take('}')) throw new UnsupportedScriptError('this expansion is not simulated');
      return { kind: 'variable', name: braced[1] as string, fallback, isQuoted };
    }
    if (this.text[this.#at] === '{') throw new UnsupportedScriptError('this expansion is not simulated');
    const name = this.#match(/[A-Za-z_]\w*|[?$#@*]|\d/y)?.[0];
    return name === undefined ? textPart('$', isQuoted) : { kind: 'variable', name, fallback: undefined, isQuoted };
  }

  /** Parses the default value of `${NAME:-VALUE}`: text and simple variables. */
  #fallback(): Word {
    const parts: Part[] = [];
    for (;;) {
      const text = this.#match(/[^}$"'`\\]+/y)?.[0];
      if (text !== undefined) parts.push(textPart(text, true));
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
    return { kind: 'variable', name: (match[1] ?? match[2]) as string, fallback: undefined, isQuoted: true };
  }

  #blanks(): void {
    this.#skip(/(?:[ \t]|\\\n)+/y);
    // A comment starts a word.
    if (this.text[this.#at] === '#' && /^[\s;]?$/.test(this.text[this.#at - 1] ?? '')) this.#skip(/#[^\n]*/y);
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
