/** Thrown for a script that the simulated shell cannot run, such as one with a loop or a pipe. */
export class UnsupportedScriptError extends Error {}

/** A simple command and the operator that joins it to the previous one. */
export interface ShellCommand {
  readonly join: ';' | '&&' | '||';
  readonly words: readonly string[];
  /** True if the output goes to standard error (`>&2`). */
  readonly toStderr: boolean;
  /** True if the output is discarded (`>/dev/null`). */
  readonly isSilent: boolean;
}

const maxScriptLength = 65_536;
const reserved = new Set([
  'if',
  'then',
  'else',
  'fi',
  'for',
  'while',
  'until',
  'do',
  'done',
  'case',
  'esac',
  'function',
  '{',
  '}',
  '!',
  '[[',
]);
const redirections: ReadonlyMap<string, 'stderr' | 'silent' | 'none'> = new Map([
  ['>&2', 'stderr'],
  ['1>&2', 'stderr'],
  ['>/dev/null', 'silent'],
  ['1>/dev/null', 'silent'],
  ['2>/dev/null', 'none'],
  ['2>&1', 'none'],
]);

/**
 * Splits a script into simple commands: quotes, `$NAME`, `${NAME}`, `$?`, comments and the operators `;`, `&&`, `||` and newline.
 * Variables are expanded by `lookup` when the command runs, hence the thunks. Throws UnsupportedScriptError for any other syntax.
 */
export function parseScript(script: string): { readonly join: ShellCommand['join']; expand(lookup: Lookup): ShellCommand }[] {
  if (script.length > maxScriptLength) throw new UnsupportedScriptError('the script is too long');
  const parser = new ScriptParser(script);
  return parser.parse();
}

export type Lookup = (name: string) => string;
type Part = string | { readonly variable: string };
/** A word: its parts, and true if any of it was quoted (an empty unquoted word vanishes). */
interface Word {
  readonly parts: Part[];
  isQuoted: boolean;
}

class ScriptParser {
  #at = 0;
  #words: Word[] = [];
  #word: Word | undefined;
  #join: ShellCommand['join'] = ';';
  readonly #commands: { join: ShellCommand['join']; expand(lookup: Lookup): ShellCommand }[] = [];

  constructor(private readonly text: string) {}

  parse(): { join: ShellCommand['join']; expand(lookup: Lookup): ShellCommand }[] {
    while (this.#at < this.text.length) this.#take(this.text[this.#at] as string);
    this.#endCommand(';');
    return this.#commands;
  }

  #take(char: string): void {
    this.#at += 1;
    if (char === "'") return this.#quoted();
    if (char === '"') return this.#doubleQuoted();
    if (char === '\\') return this.#add(this.text[this.#at++] ?? '', true);
    if (char === '$') return this.#variable();
    if (char === ' ' || char === '\t') return this.#endWord();
    if (char === '\n' || char === ';') return this.#endCommand(';');
    if (char === '#' && !this.#word) return this.#comment();
    if (char === '&' || char === '|') return this.#operator(char);
    if ('`()<*?[~'.includes(char) && !(char === '?' && this.#word)) throw new UnsupportedScriptError(`${char} is not simulated`);
    this.#add(char, false);
  }

  #add(text: string, isQuoted: boolean): void {
    this.#word ??= { parts: [], isQuoted };
    this.#word.isQuoted ||= isQuoted;
    this.#word.parts.push(text);
  }

  #quoted(): void {
    const end = this.text.indexOf("'", this.#at);
    if (end < 0) throw new UnsupportedScriptError('unterminated quoted string');
    this.#add(this.text.slice(this.#at, end), true);
    this.#at = end + 1;
  }

  #doubleQuoted(): void {
    this.#add('', true);
    for (;;) {
      const char = this.text[this.#at++];
      if (char === undefined) throw new UnsupportedScriptError('unterminated quoted string');
      if (char === '"') return;
      if (char === '`') throw new UnsupportedScriptError('command substitution is not simulated');
      if (char === '$') this.#variable();
      else if (char === '\\' && '"\\$`\n'.includes(this.text[this.#at] ?? '')) this.#add(this.text[this.#at++] as string, true);
      else this.#add(char, true);
    }
  }

  #variable(): void {
    const match = /^(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*|\?|\$))/.exec(this.text.slice(this.#at, this.#at + 256));
    if (!match) {
      if ('({'.includes(this.text[this.#at] ?? ' ')) throw new UnsupportedScriptError('this expansion is not simulated');
      return this.#add('$', false);
    }
    this.#at += match[0].length;
    this.#word ??= { parts: [], isQuoted: false };
    this.#word.parts.push({ variable: (match[1] ?? match[2]) as string });
  }

  #comment(): void {
    while (this.#at < this.text.length && this.text[this.#at] !== '\n') this.#at += 1;
  }

  #operator(char: string): void {
    const raw = this.#word?.parts.join('') ?? '';
    // `>&2` and `2>&1` are redirections, not the end of a command.
    if (char === '&' && /^[12]?>$/.test(raw)) return this.#add(char, false);
    if (this.text[this.#at] !== char)
      throw new UnsupportedScriptError(char === '|' ? 'pipes are not simulated' : 'background commands are not simulated');
    this.#at += 1;
    this.#endCommand(char === '&' ? '&&' : '||');
  }

  #endWord(): void {
    if (this.#word) this.#words.push(this.#word);
    this.#word = undefined;
  }

  #endCommand(next: ShellCommand['join']): void {
    this.#endWord();
    const words = this.#words;
    this.#words = [];
    const join = this.#join;
    this.#join = next;
    const [first] = words;
    if (!first) return;
    if (!first.isQuoted && reserved.has(first.parts.join(''))) throw new UnsupportedScriptError(`${first.parts.join('')} is not simulated`);
    this.#commands.push({ join, expand: (lookup) => expand(words, join, lookup) });
  }
}

function expand(words: readonly Word[], join: ShellCommand['join'], lookup: Lookup): ShellCommand {
  const texts: string[] = [];
  let toStderr = false;
  let isSilent = false;
  for (let i = 0; i < words.length; i += 1) {
    const { parts, isQuoted } = words[i] as Word;
    let text = parts.map((part) => (typeof part === 'string' ? part : lookup(part.variable))).join('');
    if (!isQuoted && /^[12]?>/.test(text)) {
      if (/^[12]?>$/.test(text)) text += words[++i]?.parts.join('') ?? '';
      const target = redirections.get(text);
      if (!target) throw new UnsupportedScriptError(`the redirection ${text} is not simulated`);
      toStderr ||= target === 'stderr';
      isSilent ||= target === 'silent';
    } else if (text !== '' || isQuoted) {
      texts.push(text);
    }
  }
  return { join, words: texts, toStderr, isSilent };
}
