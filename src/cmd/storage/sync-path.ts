import { open } from 'node:fs/promises';

/** Persists the contents of a file, or the file names of a folder, across a power failure (fsync). Rejects as `open` does. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
