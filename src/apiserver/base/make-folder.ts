import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Creates a folder and its missing parents. Node's recursive mkdir loops forever for paths such as `/proc/x`, whose parent exists
 * but accepts no folder.
 */
export function makeFolder(path: string, mode = 0o777): void {
  if (isFolder(path)) return;
  const parent = dirname(path);
  if (parent !== path && !existsSync(parent)) makeFolder(parent, mode);
  try {
    mkdirSync(path, mode);
  } catch (error) {
    // Another process may have created it meanwhile.
    if (!isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Throws the system's error if no file can be created in the folder. A full disk is no error. */
export function checkWritable(folder: string): void {
  const file = join(folder, `.writable-${process.pid}`);
  try {
    writeFileSync(file, '', { mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
  rmSync(file, { force: true });
}
