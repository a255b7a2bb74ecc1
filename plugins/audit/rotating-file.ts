import { Buffer } from 'node:buffer';
import {
  closeSync,
  createReadStream,
  createWriteStream,
  fstatSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { makeFolder } from '#sdk/internal';

export interface RotationOptions {
  /** Size at which the file is rotated; 0: never. */
  readonly maxSizeBytes: number;
  /** Maximum age of old files in days; 0: unlimited. */
  readonly maxAgeDays: number;
  /** Maximum number of old files; 0: unlimited. */
  readonly maxBackups: number;
  readonly compress: boolean;
}

const dayMs = 86_400_000;
/** Maximum UTF-8 size of a UTF-16 code unit. */
const maxBytesPerUnit = 3;

/**
 * A file that is renamed when it reaches its maximum size, after which a new one is started: `audit.log` becomes
 * `audit-2026-01-02T15-04-05.000.log`. Old files are removed by number and age. Writes are synchronous, so that no written
 * line is lost when the process ends. Upstream: gopkg.in/natefinch/lumberjack.v2.
 */
export class RotatingFile {
  #file: number;
  #size: number;
  /** Buffer for encoding texts of the usual size. */
  readonly #scratch = Buffer.allocUnsafeSlow(32 * 1024);

  /** Throws if the file cannot be opened for writing. */
  constructor(
    private readonly path: string,
    private readonly options: RotationOptions,
    /** Called if old files cannot be compressed or removed, which does not affect writes. */
    private readonly onError: (error: unknown) => void,
    private readonly now: () => Date = () => new Date(),
  ) {
    makeFolder(dirname(path), 0o700);
    this.#file = openSync(path, 'a', 0o600);
    this.#size = fstatSync(this.#file).size;
  }

  /** Appends the text. Throws the errors of node:fs. */
  write(text: string): void {
    const fits = text.length * maxBytesPerUnit <= this.#scratch.length;
    const bytes = fits ? this.#scratch : Buffer.from(text);
    const length = fits ? bytes.write(text) : bytes.length;
    if (this.options.maxSizeBytes > 0 && this.#size > 0 && this.#size + length > this.options.maxSizeBytes) this.#rotate();
    for (let at = 0; at < length; ) at += writeSync(this.#file, bytes, at, length - at);
    this.#size += length;
  }

  close(): void {
    closeSync(this.#file);
  }

  #rotate(): void {
    const { prefix, suffix } = this.#names();
    const backup = join(dirname(this.path), `${prefix}${this.now().toISOString().slice(0, -1).replaceAll(':', '-')}${suffix}`);
    renameSync(this.path, backup);
    const file = openSync(this.path, 'a', 0o600);
    closeSync(this.#file);
    this.#file = file;
    this.#size = 0;
    if (this.options.compress) {
      compress(backup)
        .catch(this.onError)
        .finally(() => this.#tryToRemoveOld());
    } else this.#tryToRemoveOld();
  }

  #tryToRemoveOld(): void {
    try {
      this.#removeOld();
    } catch (error) {
      this.onError(error);
    }
  }

  #removeOld(): void {
    const { prefix, suffix } = this.#names();
    const folder = dirname(this.path);
    const backups = readdirSync(folder)
      .filter((name) => name.startsWith(prefix) && (name.endsWith(suffix) || name.endsWith(`${suffix}.gz`)))
      .sort()
      .reverse();
    const { maxBackups, maxAgeDays } = this.options;
    const oldest = this.now().getTime() - maxAgeDays * dayMs;
    for (const [index, name] of backups.entries()) {
      const time = Date.parse(
        name
          .slice(prefix.length, prefix.length + 23)
          .replace(/T(\d\d)-(\d\d)-/, 'T$1:$2:')
          .concat('Z'),
      );
      const isOld = maxAgeDays > 0 && time < oldest;
      if ((maxBackups > 0 && index >= maxBackups) || isOld) unlinkSync(join(folder, name));
    }
  }

  #names(): { readonly prefix: string; readonly suffix: string } {
    const suffix = extname(this.path);
    return { prefix: `${basename(this.path, suffix)}-`, suffix };
  }
}

/** Compresses a file and removes the original, which stays if the compression fails. */
async function compress(file: string): Promise<void> {
  const compressed = `${file}.gz`;
  try {
    await pipeline(createReadStream(file), createGzip(), createWriteStream(compressed, { mode: 0o600 }));
  } catch (error) {
    rmSync(compressed, { force: true });
    throw error;
  }
  unlinkSync(file);
}
