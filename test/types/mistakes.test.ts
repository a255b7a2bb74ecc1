/**
 * Mistakes of package authors: with the declarations that packages get, the compiler reports each of them at its line. The TypeScript of
 * the guide has none.
 */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeTypesIfStale } from '../../scripts/toolchain.mjs';
import { writeGuideBlocks } from './guide-blocks.ts';

const execute = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const folder = join(import.meta.dirname, 'mistakes');
const files = readdirSync(folder).filter((name) => name.endsWith('.ts'));

/** Returns the line after the comment that announces a mistake which the compiler finds; undefined if it cannot find it. */
function expectedLine(file: string): number | undefined {
  const lines = readFileSync(join(folder, file), 'utf8').split('\n');
  const announced = lines.findIndex((line) => /^\s*\/\/ mistake: ./.test(line));
  if (announced >= 0) return announced + 2;
  expect(lines.some((line) => /^\s*\/\/ not found: ./.test(line))).toBe(true);
  return undefined;
}

describe('mistakes of package authors', () => {
  /** Line of the first error by file. Further ones follow from it, such as the type of an argument that is no longer known. */
  const reported = new Map<string, number>();
  let guide: Awaited<ReturnType<typeof writeGuideBlocks>>;
  /** Errors in blocks of the guide. */
  let guideErrors: readonly string[];
  let blocks: string;
  beforeAll(async () => {
    writeTypesIfStale(process.execPath);
    blocks = await mkdtemp(join(root, 'dist/guide-'));
    guide = await writeGuideBlocks(blocks);
    // One run of the compiler checks both.
    const project = { extends: join(folder, 'tsconfig.json'), include: [join(folder, '*.ts'), '*.ts'] };
    await writeFile(join(blocks, 'tsconfig.json'), JSON.stringify(project));
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const { stdout } = await execute(process.execPath, [tsc, '--pretty', 'false', '-p', blocks], { cwd: folder }).catch(
      (error: unknown) => error as { stdout: string },
    );
    for (const [, file = '', line] of stdout.matchAll(/^([^/\s]+\.ts)\((\d+),\d+\): error TS/gm))
      reported.set(file, Math.min(reported.get(file) ?? Number.POSITIVE_INFINITY, Number(line)));
    guideErrors = stdout.split('\n').filter((line) => line.includes(`${basename(blocks)}/`));
  }, 300_000);
  afterAll(() => rm(blocks, { recursive: true, force: true }));

  it('the TypeScript of the guide compiles', () => {
    expect(guide.unknown).toEqual([]);
    expect(guide.modules.length).toBeGreaterThan(10);
    expect(guideErrors).toEqual([]);
  });

  it.each(files)('%s is reported at its line, or states why that is impossible', (file) => {
    expect(reported.get(file)).toBe(expectedLine(file));
  });

  it('at least ten of thirteen are found', () => {
    expect(reported.size / files.length).toBeGreaterThanOrEqual(10 / 13);
  });
});
