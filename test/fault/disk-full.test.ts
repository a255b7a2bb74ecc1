import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it, vi } from 'vitest';
import { NoSpaceError } from '#apiserver/storage/errors';
import type { StorageEvent, StorageRecord } from '#apiserver/storage/storage';
import { EmbeddedStorage } from '#plugins/storage/embedded/embedded-storage';

let folder: string | undefined;
let storage: EmbeddedStorage | undefined;
afterEach(async () => {
  await storage?.close();
  if (!folder) return;
  execFileSync('umount', [folder]);
  rmSync(folder, { recursive: true });
});

/** A file system of its own; undefined if this user may not make one. */
function smallDisk(megabytes: number): string | undefined {
  const path = mkdtempSync(join(tmpdir(), 'disk-full-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', path], { stdio: 'ignore' });
    return path;
  } catch {
    rmSync(path, { recursive: true });
    return undefined;
  }
}

it('a full disk stops writes but not reads, watches and deletions, and nothing is lost', async ({ skip }) => {
  folder = smallDisk(16);
  if (!folder) return skip('this user may not mount a tmpfs');
  const file = join(folder, 'store.db');
  writeFileSync(join(folder, 'filler'), Buffer.alloc(6 * 1_048_576));
  storage = await EmbeddedStorage.open({ file, compactionIntervalMs: 0, checkpointBytes: 1_048_576 });
  // What is held back for deletions comes when the thread that writes runs.
  await vi.waitFor(() => expect(statSync(`${file}-reserve`).size).toBeGreaterThanOrEqual(2 * 1_048_576), 10_000);
  const stored: StorageRecord[] = [];
  let refused: unknown;
  for (let i = 0; !refused; i++) {
    const results = await Promise.allSettled(
      Array.from({ length: 8 }, (_, n) => storage!.create(`/r/${i}-${n}`, () => Buffer.alloc(8_192, 'x'))),
    );
    for (const result of results) {
      if (result.status === 'fulfilled') stored.push(result.value);
      else refused = result.reason;
    }
  }
  expect(refused).toBeInstanceOf(NoSpaceError);
  expect(stored.length).toBeGreaterThan(100);
  await expect(storage.create('/r/small', () => Buffer.from('x'))).rejects.toThrow(NoSpaceError);

  const events: StorageEvent[] = [];
  const last = await storage.currentRevision();
  expect(last).toBe(stored.at(-1)!.revision);
  expect((await storage.list('/r/')).count).toBe(stored.length);
  const end = new AbortController();
  const watching = (async () => {
    for await (const event of storage.watch('/r/', last, end.signal)) events.push(event);
  })();
  const gone = stored.slice(0, 60);
  for (const { key, revision } of gone) await storage.delete(key, revision);
  await sleep(20);
  expect(events.map((event) => `${event.type} ${event.key}`)).toEqual(gone.map(({ key }) => `DELETE ${key}`));
  end.abort();
  await watching;

  rmSync(join(folder, 'filler'));
  const recovered = performance.now();
  while (performance.now() - recovered < 10_000) {
    if (
      await storage
        .create('/r/again', () => Buffer.from('x'))
        .then(
          () => true,
          () => false,
        )
    )
      break;
    await sleep(50);
  }
  expect((await storage.get('/r/again'))?.value.toString()).toBe('x');
  await storage.close();
  storage = await EmbeddedStorage.open({ file });
  expect((await storage.list('/r/')).count).toBe(stored.length - gone.length + 1);
  for (const { key, revision } of stored.slice(60)) expect((await storage.get(key))?.revision).toBe(revision);
});
