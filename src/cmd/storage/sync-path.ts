import { open } from 'node:fs/promises';

/** Has what was written to a file, or the names of a folder's files, outlast a power failure (fsync). Rejects as `open` does. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
