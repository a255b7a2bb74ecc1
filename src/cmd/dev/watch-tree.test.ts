import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { watchTree } from './watch-tree.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-watch-'));
  await mkdir(join(folder, 'sub'));
  await writeFile(join(folder, 'sub/a.ts'), '1');
});
afterEach(() => rm(folder, { recursive: true }));

/** Replaces a file as editors do that write atomically. */
async function replace(file: string, text: string): Promise<void> {
  await writeFile(`${file}.tmp`, text);
  await rename(`${file}.tmp`, file);
}

it.each<{ name: string; change: (file: string, round: number) => Promise<void> }>([
  { name: 'a file that is written', change: (file, round) => writeFile(file, String(round)) },
  { name: 'a file that is replaced by a rename', change: (file, round) => replace(file, String(round)) },
  {
    name: 'a file in a new folder',
    async change(_, round) {
      const added = join(folder, `new-${round}`);
      await mkdir(added);
      // The watch of the new folder starts with the event of its creation.
      await vi.waitFor(() => expect(changes).toBeGreaterThan(0));
      changes = 0;
      await replace(join(added, 'b.ts'), '1');
    },
  },
])('sees $name, each time', async ({ change }) => {
  using _watching = watchTree(folder, () => {
    changes += 1;
  });
  for (let round = 0; round < 3; round += 1) {
    changes = 0;
    await change(join(folder, 'sub/a.ts'), round);
    await vi.waitFor(() => expect(changes).toBeGreaterThan(0));
  }
});

let changes = 0;
