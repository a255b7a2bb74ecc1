import { withoutTrailing } from '#sdk/internal';
import { evaluateArithmetic } from './arithmetic.ts';
import { ShellExit } from './jumps.ts';
import { isPattern, matchingPaths, quotedPattern, withoutMatch } from './patterns.ts';
import type { Process } from './process.ts';
import { type Operation, type Part, type Script, UnsupportedScriptError, type Word } from './script.ts';
import { spendWork, workOfText } from './work.ts';

/** Exit code of a shell that reads a variable which must be set (`${NAME:?}`). */
const notSetCode = 2;

/** State of a shell that its words refer to. */
export interface Scope {
  readonly process: Pick<Process, 'files'>;
  readonly variables: Map<string, string>;
  /** `$0`, `$1` and so on. */
  readonly parameters: readonly string[];
  readonly folder: string;
  /** Exit code of the last command. */
  readonly status: number;
  /** Number of the last background command. */
  readonly lastJob: number | undefined;
  /** Runs the script of `$(…)` and returns its output. */
  outputOf(script: Script): string;
}

/** Expands words by the variables, files and commands of a shell. */
export class Expansion {
  readonly #scope: Scope;

  constructor(scope: Scope) {
    this.#scope = scope;
  }

  /** Expands a word to one text, without splitting. */
  text(word: Word): string {
    const text = word.map((part) => this.#expand(part)).join('');
    spendWork(workOfText(text));
    return text;
  }

  /** Expands a word to a pattern, in which quoted characters stand for themselves. */
  pattern(word: Word): string {
    return word.map((part) => (part.isQuoted ? quotedPattern(this.#expand(part)) : this.#expand(part))).join('');
  }

  /** Expands a word to fields: results of unquoted expansions are split at blanks, and patterns become the paths that they match. */
  fields(word: Word): string[] {
    const hasPattern = word.some((part) => !part.isQuoted && part.kind === 'text' && isPattern(part.text));
    if (!hasPattern) return this.#split(word);
    const pattern = this.pattern(word);
    const paths = matchingPaths(pattern, this.#scope.folder, this.#scope.process.files);
    return paths.length > 0 ? paths : [this.text(word)];
  }

  #split(word: Word): string[] {
    const fields: string[] = [];
    let current: string | undefined;
    for (const part of word) {
      const isList = part.kind === 'variable' && part.name === '@' && part.isQuoted;
      const text = isList ? '' : this.#expand(part);
      if (isList) {
        const [head, ...rest] = this.#scope.parameters.slice(1);
        if (head !== undefined) current = (current ?? '') + head;
        for (const parameter of rest) {
          fields.push(current ?? '');
          current = parameter;
        }
      } else if (part.kind === 'text' || part.isQuoted) {
        current = (current ?? '') + text;
      } else {
        const pieces = text.split(/[ \t\n]+/);
        for (const [i, piece] of pieces.entries()) {
          if (i > 0 && current !== undefined) {
            fields.push(current);
            current = undefined;
          }
          if (piece !== '') current = (current ?? '') + piece;
        }
      }
    }
    if (current !== undefined) fields.push(current);
    for (const field of fields) spendWork(workOfText(field));
    return fields;
  }

  /** Returns the value of a part of a word. */
  #expand(part: Part): string {
    if (part.kind === 'text') return part.text;
    const value = this.#value(part);
    spendWork(value.length);
    return value;
  }

  #value(part: Exclude<Part, { kind: 'text' }>): string {
    if (part.kind === 'variable') return part.operation ? this.#operate(part.name, part.operation) : this.#variable(part.name);
    if (part.kind === 'arithmetic') return String(evaluateArithmetic(this.text(part.expression), (name) => this.#variable(name)));
    return withoutTrailing(this.#scope.outputOf(part.script), '\n');
  }

  #operate(name: string, { operator, word }: Operation): string {
    const value = this.#variable(name);
    const isSet = operator.startsWith(':') ? value !== '' : value !== '' || this.#scope.variables.has(name);
    if (operator === 'length') return String([...value].length);
    if (operator.endsWith('+')) return isSet ? this.text(word) : '';
    if (/^[#%]/.test(operator))
      return withoutMatch(value, this.pattern(word), operator.startsWith('#') ? 'start' : 'end', operator.length === 2);
    if (isSet) return value;
    if (operator.endsWith('?')) throw new ShellExit(notSetCode);
    const fallback = this.text(word);
    if (operator.endsWith('=')) this.#scope.variables.set(name, fallback);
    return fallback;
  }

  #variable(name: string): string {
    if (name === '!') return this.#scope.lastJob === undefined ? '' : String(this.#scope.lastJob);
    if (name === '?') return String(this.#scope.status);
    if (name === '$') return '1';
    if (name === '#') return String(Math.max(0, this.#scope.parameters.length - 1));
    if (name === '@' || name === '*') return this.#scope.parameters.slice(1).join(' ');
    if (name === 'RANDOM') throw new UnsupportedScriptError('random numbers are not simulated');
    return (/^\d$/.test(name) ? this.#scope.parameters[Number(name)] : this.#scope.variables.get(name)) ?? '';
  }
}
