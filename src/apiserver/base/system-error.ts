import { readFile } from 'node:fs/promises';

/** Actions of system calls on files; a call that is not listed is named as it is. */
const actions: Readonly<Record<string, string>> = {
  open: 'open',
  read: 'read',
  stat: 'read',
  lstat: 'read',
  realpath: 'read',
  scandir: 'list the folder',
  mkdir: 'create the folder',
  mkdtemp: 'create the folder',
  unlink: 'remove',
  rmdir: 'remove the folder',
};

/** Reasons by the code of a system error. */
const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  EISDIR: 'it is a folder, and a file is expected',
  ENOTDIR: 'a part of the path is a file, and a folder is expected',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EEXIST: 'it exists already',
  ELOOP: 'too many symbolic links',
  ENAMETOOLONG: 'the name is too long',
  EMFILE: 'too many open files',
  ENOSPC: 'no space left on the device',
  EROFS: 'the file system is read-only',
};

/**
 * Returns the message of an error for a user: of an error of the system about a file, a sentence with the file and the reason, without the
 * code of the system. `file` names the file where the error does not, as that of a read of a folder.
 */
export function errorMessage(error: unknown, file?: string): string {
  const { code, syscall, path = file, message } = error as NodeJS.ErrnoException;
  const reason = code === undefined || syscall === undefined ? undefined : reasons[code];
  if (reason === undefined) return message;
  if (path === undefined) return `cannot read the file: ${reason}`;
  const action = code === 'EEXIST' && syscall === 'open' ? 'create' : (actions[syscall as string] ?? (syscall as string));
  return `cannot ${action} ${path}: ${reason}`;
}

/** Error of a file that cannot be read; the message names the file and the reason. */
export class UnreadableFileError extends Error {
  /** Code of the system, such as ENOENT. */
  readonly code: string | undefined;

  constructor(file: string, cause: unknown) {
    super(errorMessage(cause, file), { cause });
    this.code = (cause as NodeJS.ErrnoException).code;
  }
}

/** Reads a text file. Rejects with an UnreadableFileError. */
export async function readText(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((cause: unknown) => {
    throw new UnreadableFileError(file, cause);
  });
}
