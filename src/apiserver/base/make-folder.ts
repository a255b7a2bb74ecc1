import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Makes a folder, and those around it that are missing. Node's own way to do so never ends where a system has no such folder and makes none (`/proc/x`). */
export function makeFolder(path: string, mode = 0o777): void {
  if (isFolder(path)) return;
  const parent = dirname(path);
  if (parent !== path && !existsSync(parent)) makeFolder(parent, mode);
  try {
    mkdirSync(path, mode);
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Throws the system's error if no file can be made in the folder; a full disk is none. */
export function checkWritable(folder: string): void {
  const file = join(folder, `.writable-${process.pid}`);
  try {
    writeFileSync(file, '', { mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
  rmSync(file, { force: true });
}
