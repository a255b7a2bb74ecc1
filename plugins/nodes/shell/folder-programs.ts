import { posix } from 'node:path';
import { bytesOfText } from './bytes.ts';
import { addFolders } from './file-programs.ts';
import { FileError } from './files.ts';
import { matchesPattern } from './patterns.ts';
import { fails, lines, nothing, optionsOf, type ProgramContext, type ProgramResult, prints, unsupported } from './program.ts';
import { readTar, type TarEntry, writeTar } from './tar.ts';

/** Programs for folders and all files in them. */

/** `ls [-laA1dhi] [PATH…]`. */
export function ls(args: readonly string[], { files, folder, now }: ProgramContext): ProgramResult {
  const { options, rest } = optionsOf('ls', args, 'laA1Rdhi');
  if (options.has('R')) return unsupported('ls -R');
  const paths = rest.length > 0 ? rest : ['.'];
  const time = new Date(now).toUTCString().replace(/^\w+, (\d+) (\w+) \d+ (\d+:\d+).*$/, '$2 $1 $3');
  const row = (name: string, path: string): string => {
    if (!options.has('l')) return name;
    const text = files.read(path);
    const mode = files.isLink(path) ? 'lrwxrwxrwx' : text === undefined ? 'drwxr-xr-x' : '-rw-r--r--';
    return `${mode}    1 root     root     ${String(text === undefined ? 4096 : bytesOfText(text).length).padStart(9)} ${time} ${name}`;
  };
  let [stdout, stderr] = ['', ''];
  for (const path of paths) {
    const absolute = posix.resolve(folder, path);
    if (files.isFolder(absolute) && !options.has('d')) {
      const names = files.list(absolute).filter((name) => options.has('a') || options.has('A') || !name.startsWith('.'));
      stdout += (paths.length > 1 ? `${path}:\n` : '') + lines(names.map((name) => row(name, posix.join(absolute, name))));
    } else if (files.isFolder(absolute) || files.read(absolute) !== undefined) stdout += lines([row(path, absolute)]);
    else stderr += `ls: ${path}: No such file or directory\n`;
  }
  return { ...prints(stdout), stderr, exitCode: stderr === '' ? 0 : 1 };
}

/** `find PATH… [-name PATTERN] [-type f|d]`. */
export function find(args: readonly string[], { files, folder }: ProgramContext): ProgramResult {
  const at = args.findIndex((arg) => arg.startsWith('-'));
  const [paths, tests] = at < 0 ? [args, []] : [args.slice(0, at), args.slice(at)];
  const conditions: ((name: string, path: string) => boolean)[] = [];
  for (let i = 0; i < tests.length; i += 2) {
    const [test, value = ''] = [tests[i], tests[i + 1]];
    if (test === '-name') conditions.push((name) => matchesPattern(value, name));
    else if (test === '-type' && value === 'd') conditions.push((_, path) => files.isFolder(path));
    else if (test === '-type' && value === 'f') conditions.push((_, path) => !files.isFolder(path));
    else return unsupported(`find ${test}`);
  }
  const found: string[] = [];
  let stderr = '';
  const visit = (path: string, absolute: string): void => {
    if (conditions.every((isTrue) => isTrue(posix.basename(absolute), absolute))) found.push(path);
    if (!files.isFolder(absolute) || files.isLink(absolute)) return;
    for (const name of files.list(absolute)) visit(path === '/' ? `/${name}` : `${path}/${name}`, posix.join(absolute, name));
  };
  for (const path of paths.length > 0 ? paths : ['.']) {
    const absolute = posix.resolve(folder, path);
    if (files.isFolder(absolute) || files.read(absolute) !== undefined) visit(path, absolute);
    else stderr += `find: ${path}: No such file or directory\n`;
  }
  return { ...prints(lines(found)), stderr, exitCode: stderr === '' ? 0 : 1 };
}

/** `tar` from standard input or to standard output, as `kubectl cp` calls it. */
export function tar(args: readonly string[], context: ProgramContext): ProgramResult {
  const words = args.filter((arg) => arg !== '--no-same-permissions' && arg !== '--no-same-owner');
  const at = words.indexOf('-C');
  const folder = at < 0 ? context.folder : posix.resolve(context.folder, words[at + 1] ?? '');
  const [mode = '', archive, ...names] = at < 0 ? words : [...words.slice(0, at), ...words.slice(at + 2)];
  const letters = mode.replace('-', '');
  if (archive !== '-' || !/^(?:x|c)m?f$|^xmf$/.test(letters)) return unsupported(`tar ${args.join(' ')}`);
  return letters.startsWith('x') ? unpack(folder, context) : pack(names, folder, context);
}

function unpack(folder: string, { files, stdin }: ProgramContext): ProgramResult {
  const entries = readTar(stdin());
  if (!entries) return fails('tar: this is not an archive of files and folders, and others are not simulated');
  for (const { name, text } of entries) {
    const path = posix.resolve(folder, name);
    try {
      addFolders(files, text === undefined ? path : posix.dirname(path));
      if (text !== undefined) files.write(path, text);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      return { ...fails(`tar: ${name}: Cannot open: ${error.message}`, 2), changesFiles: true };
    }
  }
  return { ...nothing, changesFiles: true };
}

function pack(names: readonly string[], folder: string, { files }: ProgramContext): ProgramResult {
  const entries: TarEntry[] = [];
  let stderr = '';
  const add = (name: string): void => {
    const path = posix.resolve(folder, name);
    const text = files.read(path);
    if (text !== undefined) entries.push({ name: name.replace(/^\/+/, ''), text });
    else if (files.isFolder(path)) for (const one of files.list(path)) add(posix.join(name, one));
    else stderr += `tar: ${name}: Cannot stat: No such file or directory\n`;
  };
  for (const name of names) add(name);
  return { ...prints(writeTar(entries)), stderr, exitCode: stderr === '' ? 0 : 2 };
}
