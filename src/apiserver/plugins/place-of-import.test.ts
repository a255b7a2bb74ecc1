import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { placeOfImport } from './place-of-import.ts';

const text = `import { contribute } from 'kubenest/sdk';
// ./rules.js has the rules
import {
  rules,
} from "./rules.js";
import './effects.js'; import quantities from '@acme/quantities/parse';
const later = () => import('../later.js');
`;

let folder: string;
let file: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-import-'));
  file = join(folder, 'index.js');
  await writeFile(file, text);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it.each<[what: string, missing: () => string, line: number | undefined]>([
  ['a file', () => `module '${join(folder, 'rules.js')}'`, 5],
  ['the second of a line', () => "package '@acme/quantities'", 6],
  ['a file without names', () => `module '${join(folder, 'effects.js')}'`, 6],
  ['a dynamic import', () => `module '${join(folder, '../later.js')}'`, 7],
  ['one that the text does not have', () => "package 'other'", undefined],
])('finds the import of a missing module: %s', async (_, missing, line) => {
  const error = new Error(`Cannot find ${missing()} imported from ${file}`);
  expect(await placeOfImport(error)).toEqual(line === undefined ? [] : [{ file, line }]);
});

it('finds nothing for other errors, and without the importing file', async () => {
  expect(await placeOfImport(new Error('no licence'))).toEqual([]);
  expect(await placeOfImport(new Error(`Cannot find module '/a.js' imported from ${folder}/gone.js`))).toEqual([]);
});
