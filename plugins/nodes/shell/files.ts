import { posix } from 'node:path';
import { UnsupportedScriptError } from './script.ts';
import { spendWork, workOfText } from './work.ts';

/** A failed operation on a file, as a program reports it. */
export class FileError extends Error {}

/** Change of a path since the files were created: new text, a symbolic link to an absolute path, a new folder, or its removal. */
export type FileChange = { readonly text: string } | { readonly link: string } | 'folder' | 'removed';

/** Text that a change holds. */
export function textOfChange(change: FileChange): string {
  return typeof change === 'string' ? '' : 'link' in change ? change.link : change.text;
}

/** Number of characters that a change takes, with its share of the maps that hold it. */
export function sizeOfChange(path: string, change: FileChange): number {
  return path.length + 64 + textOfChange(change).length;
}

/** True if two changes leave the same. */
export function isSameChange(a: FileChange | undefined, b: FileChange): boolean {
  if (a === undefined || typeof a === 'string' || typeof b === 'string') return a === b;
  return 'link' in a === 'link' in b && textOfChange(a) === textOfChange(b);
}

const baseFolders = [
  '/',
  '/bin',
  '/dev',
  '/etc',
  '/home',
  '/proc',
  '/root',
  '/run',
  '/sys',
  '/tmp',
  '/usr',
  '/var',
  '/var/log',
  '/var/run',
];
const maxFiles = 1_000;
const maxLength = 1_048_576;

/** Content of the file system of a simulated container. */
export interface FileContent {
  /** Text by absolute path. */
  readonly texts?: Readonly<Record<string, string>>;
  /** Folders that exist without a file in them. */
  readonly folders?: readonly string[];
  /** Folders in which nothing can be changed. */
  readonly readOnly?: readonly string[];
  /** Folders whose content the simulation does not know. Reading it ends the script with UnsupportedScriptError. */
  readonly unknown?: readonly string[];
  /** Folders in unknown ones whose content is known. */
  readonly known?: readonly string[];
}

const maxLinks = 8;

/** Files and folders of a simulated container, by absolute path. All operations take normalized absolute paths. */
export class SimulatedFiles {
  readonly #texts = new Map<string, string>();
  readonly #folders = new Set<string>(baseFolders);
  /** Absolute target by path of a symbolic link. */
  readonly #links = new Map<string, string>();
  readonly #changes = new Map<string, FileChange>();
  #length = 0;

  /** `room` is the number of characters that the changes may add. */
  constructor(
    private readonly content: FileContent = {},
    private room = Infinity,
  ) {
    for (const folder of content.folders ?? []) this.#addFolder(folder);
    for (const [path, text] of Object.entries(content.texts ?? {})) {
      this.#addFolder(posix.dirname(path));
      this.#set(path, text);
    }
  }

  /** Changes since the construction, by path, in their order. */
  get changes(): ReadonlyMap<string, FileChange> {
    return this.#changes;
  }

  /** Makes the changes of other files here. */
  apply(changes: ReadonlyMap<string, FileChange>): void {
    for (const [path, change] of changes) {
      spendWork(1);
      if (change === 'removed') this.#drop(path);
      else if (change === 'folder') this.#addFolder(path);
      else if ('link' in change) this.#links.set(path, change.link);
      else this.#set(path, change.text);
      this.#changes.set(path, change);
    }
  }

  read(link: string): string | undefined {
    const path = this.#targetOf(link);
    const text = this.#texts.get(path);
    if (text === undefined) this.#expectKnown(path);
    spendWork(workOfText(path) + workOfText(text ?? ''));
    return text;
  }

  isFolder(link: string): boolean {
    const path = this.#targetOf(link);
    spendWork(workOfText(path));
    if (this.#folders.has(path)) return true;
    this.#expectKnown(path);
    return false;
  }

  isReadOnly(path: string): boolean {
    return isWithin(this.#targetOf(path), this.content.readOnly ?? []);
  }

  /** Lists the names in a folder. */
  list(link: string): string[] {
    const folder = this.#targetOf(link);
    this.#expectKnown(folder);
    spendWork(this.#size);
    const prefix = folder === '/' ? '/' : `${folder}/`;
    const found = [...this.#folders, ...this.#texts.keys(), ...this.#links.keys()].filter(
      (path) => path !== '/' && path.startsWith(prefix),
    );
    return [...new Set(found.map((path) => path.slice(prefix.length).split('/', 1)[0] as string))].sort();
  }

  /** Writes a file. Throws FileError as a kernel would refuse it. */
  write(link: string, text: string): void {
    const path = this.#targetOf(link);
    this.#expectWritable(path);
    if (this.#folders.has(path)) throw new FileError('Is a directory');
    if (!this.isFolder(posix.dirname(path))) throw new FileError('No such file or directory');
    this.#change(path, { text });
    this.#set(path, text);
  }

  /** Makes a symbolic link. */
  link(path: string, target: string): void {
    this.#expectWritable(path);
    if (this.#exists(path)) throw new FileError('File exists');
    if (!this.isFolder(posix.dirname(path))) throw new FileError('No such file or directory');
    this.#change(path, { link: target });
    this.#links.set(path, target);
  }

  makeFolder(path: string): void {
    this.#expectWritable(path);
    if (this.#exists(path)) throw new FileError('File exists');
    if (!this.isFolder(posix.dirname(path))) throw new FileError('No such file or directory');
    this.#change(path, 'folder');
    this.#addFolder(path);
  }

  /** Removes a file, or a folder with all that is in it. */
  remove(path: string): void {
    this.#expectWritable(path);
    spendWork(this.#size);
    for (const one of [...this.#texts.keys(), ...this.#folders, ...this.#links.keys()].filter(
      (each) => each === path || each.startsWith(`${path}/`),
    )) {
      this.#drop(one);
      this.#change(one, 'removed');
    }
  }

  /** True if a path is a symbolic link itself. */
  isLink(path: string): boolean {
    return this.#links.has(path);
  }

  /** True if the path was removed since the construction and not made again. */
  isRemoved(path: string): boolean {
    return this.#changes.get(path) === 'removed';
  }

  #exists(path: string): boolean {
    return this.#folders.has(path) || this.#texts.has(path) || this.#links.has(path);
  }

  /** Follows the symbolic links of a path. */
  #targetOf(path: string): string {
    let result = path;
    for (let left = this.#links.size === 0 ? 0 : maxLinks; left > 0; left -= 1) {
      let folder = result;
      while (folder !== '/' && !this.#links.has(folder)) folder = posix.dirname(folder);
      const target = this.#links.get(folder);
      if (target === undefined) break;
      spendWork(1 + result.length);
      result = posix.join(target, result.slice(folder.length));
    }
    return result;
  }

  /** Records a change. Throws FileError if there is no room for what it adds. */
  #change(path: string, change: FileChange): void {
    const present = this.#changes.get(path);
    const growth = sizeOfChange(path, change) - (present === undefined ? 0 : sizeOfChange(path, present));
    if (growth > Math.max(0, this.room) && change !== 'removed') throw new FileError('No space left on device');
    this.room -= growth;
    this.#changes.set(path, change);
  }

  #expectKnown(path: string): void {
    const { unknown = [], known = [] } = this.content;
    if (this.isRemoved(path) || isWithin(path, known)) return;
    if (isWithin(path, unknown)) throw new UnsupportedScriptError(`${path}: the files of this volume are not simulated`);
  }

  #expectWritable(path: string): void {
    if (this.isReadOnly(path)) throw new FileError('Read-only file system');
  }

  #addFolder(path: string): void {
    for (let at = path; !this.#folders.has(at); at = posix.dirname(at)) {
      spendWork(1 + at.length);
      this.#folders.add(at);
      this.#expectRoom();
    }
  }

  #set(path: string, text: string): void {
    spendWork(1 + path.length);
    this.#length += text.length - (this.#texts.get(path)?.length ?? 0);
    this.#texts.set(path, text);
    this.#expectRoom();
  }

  #drop(path: string): void {
    this.#length -= this.#texts.get(path)?.length ?? 0;
    this.#texts.delete(path);
    this.#folders.delete(path);
    this.#links.delete(path);
  }

  get #size(): number {
    return this.#texts.size + this.#folders.size;
  }

  #expectRoom(): void {
    if (this.#length > maxLength || this.#size > maxFiles) throw new UnsupportedScriptError('the files are too large for the simulation');
  }
}

function isWithin(path: string, folders: readonly string[]): boolean {
  spendWork(folders.length >> 3);
  return folders.some((folder) => path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`));
}
