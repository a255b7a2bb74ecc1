import { unwatchFile, watchFile } from 'node:fs';

const intervalMs = 1_000;

/**
 * Calls when one of the files was changed or replaced, a second later at most; polled, so that it also notices what is
 * mounted or linked anew. Ends with the disposal.
 */
export function watchFiles(files: readonly string[], onChange: () => void): Disposable {
  for (const file of files) watchFile(file, { interval: intervalMs, persistent: false }, onChange);
  return {
    [Symbol.dispose]() {
      for (const file of files) unwatchFile(file, onChange);
    },
  };
}
