import { type FSWatcher, readdirSync, watch } from 'node:fs';
import { join } from 'node:path';

/**
 * Calls `onChange` after each change in a folder or below, until disposed. Each folder is watched, not each file: an editor that writes a
 * new file and renames it would leave a watch of the file behind. Folders for whose names `isIgnored` returns true are not watched.
 */
export function watchTree(root: string, onChange: () => void, isIgnored: (name: string) => boolean = () => false): Disposable {
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
    const present = new Set(foldersIn(root, isIgnored));
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

function foldersIn(root: string, isIgnored: (name: string) => boolean): string[] {
  const folders = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory() && !isIgnored(entry.name));
  return [root, ...folders.flatMap(({ name }) => foldersIn(join(root, name), isIgnored))];
}
