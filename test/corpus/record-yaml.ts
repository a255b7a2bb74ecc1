/**
 * Records the results of sigs.k8s.io/yaml; requires Go, and the modules of test/clients/go in its cache:
 *     node --conditions=kubenest-source --experimental-transform-types test/corpus/record-yaml.ts
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildGoProgram } from '../servers/go-programs.ts';
import { readWithGo } from './read-yaml.ts';
import { yamlTexts } from './yaml-texts.ts';

const folder = mkdtempSync(join(tmpdir(), 'record-yaml-'));
try {
  const program = join(folder, 'yaml');
  await buildGoProgram(join(import.meta.dirname, '../clients/go'), './yaml', program);
  const answers = readWithGo(program, yamlTexts(1, 1_000));
  const lines = answers.map((answer) => JSON.stringify(answer)).join(',\n');
  writeFileSync(join(import.meta.dirname, 'yaml.expected.json'), `[\n${lines}\n]\n`);
} finally {
  rmSync(folder, { recursive: true });
}
