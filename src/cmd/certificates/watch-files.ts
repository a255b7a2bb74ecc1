import { unwatchFile, watchFile } from 'node:fs';

const intervalMs = 1_000;

/**
 * Calls `onChange` within a second after one of the files has changed or been replaced. Polling also detects files that are mounted or
 * linked again. Disposal ends the watch.
 */
export function watchFiles(files: readonly string[], onChange: () => void): Disposable {
  for (const file of files) watchFile(file, { interval: intervalMs, persistent: false }, onChange);
  return {
    [Symbol.dispose]() {
      for (const file of files) unwatchFile(file, onChange);
    },
  };
}
