import { posix } from 'node:path';
import { FileError, type SimulatedFiles } from './files.ts';
import { fails, nothing, optionsOf, type Program, type ProgramContext, type ProgramResult, prints, unsupported } from './program.ts';

/** Programs that change files. */

const zeros = '/dev/zero';

const maxZeros = 1_048_576;

export const touch: Program = (args, context) => change('touch', args, context, (files, path) => files.write(path, files.read(path) ?? ''));

/** `tee [-a] FILE…`. */
export function tee(args: readonly string[], context: ProgramContext): ProgramResult {
  const { options, rest } = optionsOf('tee', args, 'a');
  const text = context.stdin();
  const result = change('tee', rest, context, (files, path) =>
    files.write(path, (options.has('a') ? (files.read(path) ?? '') : '') + text),
  );
  return { ...result, stdout: text };
}

/** `rm [-rf] PATH…`. */
export function remove(args: readonly string[], context: ProgramContext): ProgramResult {
  const { options, rest } = optionsOf('rm', args, 'rRf');
  return change('rm', rest, context, (files, path) => {
    const isFolder = files.isFolder(path);
    if (isFolder && !options.has('r') && !options.has('R')) throw new FileError('Is a directory');
    if (isFolder || files.read(path) !== undefined) files.remove(path);
    else if (!options.has('f')) throw new FileError('No such file or directory');
  });
}

/** `mkdir [-p] FOLDER…`. */
export function makeFolders(args: readonly string[], context: ProgramContext): ProgramResult {
  const { options, rest } = optionsOf('mkdir', args, 'p');
  return change('mkdir', rest, context, (files, path) => {
    if (!options.has('p')) return files.makeFolder(path);
    addFolders(files, path);
  });
}

/** Creates a folder with the missing ones above it. */
export function addFolders(files: SimulatedFiles, path: string): void {
  const missing = [];
  for (let at = path; !files.isFolder(at); at = posix.dirname(at)) missing.unshift(at);
  for (const one of missing) files.makeFolder(one);
}

/** `cp` or `mv` of one file. */
export function copy(program: 'cp' | 'mv', args: readonly string[], context: ProgramContext): ProgramResult {
  const { options, rest } = optionsOf(program, args, 'fv');
  const [from = '', to = ''] = rest;
  if (rest.length !== 2) return unsupported(`this use of ${program}`);
  let stdout = '';
  const result = change(program, [from], context, (files, source) => {
    const text = files.read(source);
    if (text === undefined) throw new FileError(files.isFolder(source) ? 'Is a directory' : 'No such file or directory');
    const target = posix.resolve(context.folder, to);
    const isInFolder = files.isFolder(target);
    files.write(isInFolder ? posix.join(target, posix.basename(source)) : target, text);
    if (program === 'mv') files.remove(source);
    const name = isInFolder ? posix.join(to, posix.basename(source)) : to;
    if (options.has('v')) stdout = program === 'mv' ? `renamed '${from}' -> '${name}'\n` : `'${from}' -> '${name}'\n`;
  });
  return { ...result, stdout };
}

/** `ln -s TARGET LINK`. */
export function link(args: readonly string[], context: ProgramContext): ProgramResult {
  const { options, rest } = optionsOf('ln', args, 'sf');
  const [target = '', path = posix.basename(target)] = rest;
  if (!options.has('s') || rest.length === 0 || rest.length > 2) return unsupported('this use of ln');
  return change('ln', [path], context, (files, place) => {
    const absolute = files.isFolder(place) && !files.isLink(place) ? posix.join(place, posix.basename(target)) : place;
    if (options.has('f') && (files.isLink(absolute) || files.read(absolute) !== undefined)) files.remove(absolute);
    files.link(absolute, posix.resolve(posix.dirname(absolute), target));
  });
}

/** `dd` from a file, /dev/zero or standard input to a file or standard output. */
export function dd(args: readonly string[], context: ProgramContext): ProgramResult {
  const operands = new Map(args.map((arg) => [arg.split('=', 1)[0] as string, arg.slice(arg.indexOf('=') + 1)]));
  const other = [...operands.keys()].find((name) => !['if', 'of', 'bs', 'count', 'conv', 'status'].includes(name));
  if (other !== undefined) return unsupported(`dd ${other}`);
  const number = (name: string): number | undefined => {
    const text = operands.get(name);
    if (text === undefined) return undefined;
    const [, digits, unit = ''] = /^(\d+)([kKM]?)$/.exec(text) ?? unsupported(`dd ${name}=${text}`);
    return Number(digits) * ({ '': 1, k: 1_024, K: 1_024, M: 1_048_576 }[unit] as number);
  };
  const size = number('bs') ?? 512;
  const count = number('count');
  const source = operands.get('if');
  if (source === zeros && count === undefined) return unsupported('dd without an end');
  const length = count === undefined ? Infinity : count * size;
  if (length !== Infinity && length > maxZeros) return fails('dd: memory exhausted');
  const text =
    source === undefined
      ? context.stdin()
      : source === zeros
        ? '\0'.repeat(length)
        : context.files.read(posix.resolve(context.folder, source));
  if (text === undefined) return fails(`dd: can't open '${source}': No such file or directory`);
  const copied = text.slice(0, length);
  const [full, part] = [Math.floor(copied.length / size), copied.length % size === 0 ? 0 : 1];
  const summary = operands.get('status') === 'none' ? '' : `${full}+${part} records in\n${full}+${part} records out\n`;
  const target = operands.get('of');
  if (target === undefined) return { ...prints(copied), stderr: summary };
  const result = change('dd', [target], context, (files, path) => files.write(path, copied));
  return result.exitCode === 0 ? { ...result, stderr: summary } : result;
}

/** Calls `make` for each path and reports the failures of the file system. */
function change(
  program: string,
  paths: readonly string[],
  { files, folder }: ProgramContext,
  make: (files: SimulatedFiles, path: string, name: string) => void,
): ProgramResult {
  let stderr = '';
  for (const name of paths) {
    if (/^-./.test(name)) return unsupported(`${program} ${name}`);
    try {
      make(files, posix.resolve(folder, name), name);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      stderr += `${program}: ${name}: ${error.message}\n`;
    }
  }
  return { ...nothing, stderr, exitCode: stderr === '' ? 0 : 1, changesFiles: true };
}
