import { type FSWatcher, readdirSync, watch } from 'node:fs';
import { join } from 'node:path';

/**
 * Calls `onChange` after each change in a folder or below, until disposed. Each folder is watched, not each file: an editor that writes a new
 * file and renames it would leave a watch of the file behind.
 */
export function watchTree(root: string, onChange: () => void): Disposable {
  const watchers = new Map<string, FSWatcher>();
  const close = (folder: string): void => {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  };
  const follow = (folder: string): void => {
    if (watchers.has(folder)) return;
    try {
      const watcher = watch(folder, (event) => {
        // A rename may have added a folder.
        if (event === 'rename') followAll();
        onChange();
      });
      watcher.on('error', () => close(folder));
      watchers.set(folder, watcher);
    } catch {
      // The folder is gone; its parent reports that.
    }
  };
  const followAll = (): void => {
    const present = new Set(foldersIn(root));
    for (const folder of watchers.keys()) if (!present.has(folder)) close(folder);
    for (const folder of present) follow(folder);
  };
  followAll();
  return {
    [Symbol.dispose]() {
      for (const folder of [...watchers.keys()]) close(folder);
    },
  };
}

function foldersIn(root: string): string[] {
  const entries = readdirSync(root, { withFileTypes: true, recursive: true });
  return [root, ...entries.filter((entry) => entry.isDirectory()).map(({ parentPath, name }) => join(parentPath, name))];
}
