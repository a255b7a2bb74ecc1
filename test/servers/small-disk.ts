/** Creates a small file system for one test. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const noSmallDisk = 'this user may not mount a tmpfs';
const megabyte = 1_048_576;

export interface SmallDisk extends Disposable {
  readonly folder: string;
  /** Occupies that much space until `makeRoom`. */
  fill(megabytes: number): void;
  /** Occupies all free space until `makeRoom`. */
  fillWhatIsLeft(): void;
  makeRoom(): void;
}

/** Returns undefined if the user may not create one. */
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
