import { Buffer } from 'node:buffer';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { bytesOfText, textOfBytes } from './bytes.ts';
import { readTar, writeTar } from './tar.ts';

const entries = [
  { name: 'a/empty', text: '' },
  { name: 'a/block', text: 'x'.repeat(512) },
  { name: 'binary', text: textOfBytes(Buffer.from([0, 1, 0x80, 0xff, 0xc3])) },
  { name: 'umlaut', text: 'ä\n'.repeat(300) },
  { name: `${'folder/'.repeat(20)}deep`, text: 'y' },
];
let folder = '';
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'kubenest-tar-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('reads what it writes', () => {
  expect(readTar(writeTar(entries))).toEqual(entries);
});

it('writes archives that tar reads', () => {
  execFileSync('tar', ['xf', '-', '-C', folder], { input: bytesOfText(writeTar(entries)) });
  for (const { name, text } of entries) expect(readFileSync(join(folder, name))).toEqual(bytesOfText(text));
});

it.each(['ustar', 'pax'])('reads archives of tar in the format %s', (format) => {
  for (const { name, text } of entries) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), bytesOfText(text));
  }
  const archive = textOfBytes(execFileSync('tar', ['cf', '-', `--format=${format}`, '-C', folder, '.']));
  const read = readTar(archive)?.flatMap(({ name, text }) => (text === undefined ? [] : [{ name: name.replace('./', ''), text }]));
  expect(read?.sort((a, b) => (a.name < b.name ? -1 : 1))).toEqual(entries.toSorted((a, b) => (a.name < b.name ? -1 : 1)));
});

it.each([
  { name: 'other text', archive: 'x'.repeat(1_024) },
  { name: 'an archive that ends early', archive: writeTar([{ name: 'a', text: 'x'.repeat(600) }]).slice(0, 1_024) },
])('refuses $name', ({ archive }) => {
  expect(readTar(archive)).toBeUndefined();
});
