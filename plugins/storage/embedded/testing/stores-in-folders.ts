import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, vi } from 'vitest';
import { EmbeddedStorage, type EmbeddedStorageOptions } from '../embedded-storage.ts';

const folders: string[] = [];
const opened: EmbeddedStorage[] = [];
afterEach(async () => {
  for (const storage of opened.splice(0)) await storage.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

export interface StoreInFolder {
  readonly file: string;
  readonly storage: EmbeddedStorage;
  /** Closes the storage and opens it again. */
  readonly reopen: () => Promise<EmbeddedStorage>;
  readonly cleanup: () => Promise<void>;
}

/** Returns the path of a file in a new folder, which is removed after the test. */
export function newFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'embedded-'));
  folders.push(folder);
  return join(folder, 'store.db');
}

/** Opens a storage that is closed after the test. */
export async function open(options: EmbeddedStorageOptions): Promise<EmbeddedStorage> {
  const storage = await EmbeddedStorage.open(options);
  opened.push(storage);
  return storage;
}

export async function openInFolder(options: EmbeddedStorageOptions): Promise<StoreInFolder> {
  const file = newFile();
  // Uses a small reserve, because the tests create many stores.
  const settings = { checkpointBytes: 262_144, ...options, file };
  let storage = await open(settings);
  return {
    file,
    storage,
    async reopen() {
      await storage.close();
      return (storage = await open(settings));
    },
    cleanup: () => storage.close(),
  };
}

/** Waits until the thread runs; its first action is to create the reserve. */
export async function threadOf(file: string): Promise<void> {
  await vi.waitUntil(() => existsSync(`${file}-reserve`), { interval: 5 });
  await sleep(5);
}
