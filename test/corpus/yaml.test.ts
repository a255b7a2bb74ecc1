/**
 * Compares the YAML reader with sigs.k8s.io/yaml: with its recorded results, and with the library itself if Go and its
 * modules are installed.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { encodeJson } from '#apimachinery/runtime/json/json';
import { parseYaml, YamlError } from '#apimachinery/runtime/yaml/yaml';
import { buildGoProgram, goObstacle } from '../servers/go-programs.ts';
import { readWithGo, type YamlAnswer } from './read-yaml.ts';
import { yamlTexts } from './yaml-texts.ts';

const programs = join(import.meta.dirname, '../clients/go');

function read(text: string): YamlAnswer {
  try {
    const { value, duplicateError } = parseYaml(Buffer.from(text));
    return { json: encodeJson(value), ...(duplicateError !== undefined && { strict: duplicateError }) };
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    return { error: error.message };
  }
}

function expectAnswers(texts: readonly string[], answers: readonly YamlAnswer[]): void {
  expect(answers).toHaveLength(texts.length);
  const differing = texts.flatMap((text, i) => {
    const [ours, theirs] = [read(text), answers[i]!];
    const isSame = ours.json === withoutEscapes(theirs.json) && ours.error === theirs.error && ours.strict === theirs.strict;
    return isSame || theirs.error?.startsWith('panic: ') ? [] : [{ text, ours, theirs }];
  });
  expect(differing.slice(0, 10)).toEqual([]);
}

/**
 * Normalizes invalid UTF-8 (possible in a `!!binary` scalar), which Go writes as an escape but also as the replacement
 * character itself.
 */
function withoutEscapes(json: string | undefined): string | undefined {
  return json?.replace(/(?<!\\)((?:\\\\)*)\\ufffd/g, '$1\ufffd');
}

it('parses 1,000 texts like sigs.k8s.io/yaml', () => {
  const recorded = JSON.parse(readFileSync(join(import.meta.dirname, 'yaml.expected.json'), 'utf8')) as YamlAnswer[];
  expectAnswers(yamlTexts(1, 1_000), recorded);
});

it('parses 50,000 other texts like sigs.k8s.io/yaml', { timeout: 120_000 }, async ({ skip }) => {
  const reason = goObstacle(programs);
  if (reason !== undefined) skip(reason);
  const folder = mkdtempSync(join(tmpdir(), 'kubenest-yaml-'));
  try {
    const program = join(folder, 'yaml');
    await buildGoProgram(programs, './yaml', program);
    const texts = yamlTexts(Number(process.env['FUZZ_SEED'] ?? 2), 50_000);
    texts.push('!!binary 0x1f');
    expectAnswers(texts, readWithGo(program, texts));
  } finally {
    rmSync(folder, { recursive: true });
  }
});
