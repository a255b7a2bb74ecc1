/** A file system of the test's own that is soon full. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const noSmallDisk = 'this user may not mount a tmpfs';
const megabyte = 1_048_576;

export interface SmallDisk extends Disposable {
  readonly folder: string;
  /** Takes so much of it, until `makeRoom`. */
  fill(megabytes: number): void;
  /** Takes all of it that is free, until `makeRoom`. */
  fillWhatIsLeft(): void;
  makeRoom(): void;
}

/** undefined if this user may not make one. */
export function smallDisk(megabytes: number): SmallDisk | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'small-disk-'));
  const filler = join(folder, 'filler');
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    rmSync(folder, { recursive: true });
    return undefined;
  }
  return {
    folder,
    fill: (size) => writeFileSync(filler, Buffer.alloc(size * megabyte)),
    fillWhatIsLeft: () => {
      const { bavail, bsize } = statfsSync(folder);
      writeFileSync(filler, Buffer.alloc(bavail * bsize));
    },
    makeRoom: () => rmSync(filler),
    [Symbol.dispose]() {
      execFileSync('umount', [folder]);
      rmSync(folder, { recursive: true });
    },
  };
}
