import type { SimulatedFiles } from './files.ts';
import { UnsupportedScriptError } from './script.ts';

/** Environment of a program. */
export interface ProgramContext {
  readonly env: ReadonlyMap<string, string>;
  readonly hostname: string;
  readonly now: number;
  readonly files: SimulatedFiles;
  /** Working directory. */
  readonly folder: string;
  /** Returns standard input. */
  readonly stdin: () => string;
}

/** End of a program. */
export interface ProgramResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
  /** Simulated run time. */
  readonly seconds: number;
  /** True if the program changes files. */
  readonly changesFiles?: boolean;
}

/** Runs a program. Throws UnsupportedScriptError for unknown options. */
export type Program = (args: readonly string[], context: ProgramContext) => ProgramResult;

/** The result of a program that prints nothing. */
export const nothing: ProgramResult = { stdout: '', stderr: '', exitCode: 0, seconds: 0 };
/** The result of a program that fails without a message. */
export const failed: ProgramResult = { ...nothing, exitCode: 1 };

export function prints(stdout: string): ProgramResult {
  return { ...nothing, stdout };
}

export function fails(stderr: string, exitCode = 1): ProgramResult {
  return { ...nothing, stderr: `${stderr}\n`, exitCode };
}

/** Joins lines to a text. */
export function lines(texts: readonly string[]): string {
  return texts.map((text) => `${text}\n`).join('');
}

/** Splits text into its lines. */
export function linesOf(text: string): string[] {
  const all = text.split('\n');
  if (all.at(-1) === '') all.pop();
  return all;
}

/** Throws the error of an option or operand that is not simulated. */
export function unsupported(what: string): never {
  throw new UnsupportedScriptError(`${what} is not simulated`);
}

/** Splits the arguments of a program into its options, of which `allowed` are known, and the rest. */
export function optionsOf(program: string, args: readonly string[], allowed: string): { options: Set<string>; rest: string[] } {
  const options = new Set<string>();
  const rest: string[] = [];
  for (const [i, arg] of args.entries()) {
    if (arg === '--') return { options, rest: [...rest, ...args.slice(i + 1)] };
    if (!/^-./.test(arg)) rest.push(arg);
    else
      for (const option of arg.slice(1))
        if (allowed.includes(option)) options.add(option);
        else return unsupported(`${program} ${arg}`);
  }
  return { options, rest };
}
