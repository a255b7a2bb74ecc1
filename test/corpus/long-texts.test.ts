/**
 * Tests long strings of one repeated character in each string field of each built-in kind: the time of validation must be
 * linear in the length.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { decode } from '#apimachinery/runtime/decode';
import { DecodeError, parseJson } from '#apimachinery/runtime/json/json';
import type { KubeObject } from '#apimachinery/meta/types';
import { groups } from '#kubernetes/apis/groups';
import { schema } from '#kubernetes/schema/schema';
import { threadMilliseconds } from '#apimachinery/testing/thread-time';

interface Recorded {
  readonly name: string;
  readonly json: string;
}

const lines = brotliDecompressSync(readFileSync(join(import.meta.dirname, 'kinds.jsonl.br')))
  .toString()
  .trimEnd()
  .split('\n');
const recorded = lines.map((line) => JSON.parse(line) as Recorded).filter(({ name }) => name.endsWith(' full'));
const definitions = groups.flatMap(({ resources }) => resources);
const context = {
  namespace: 'default',
  user: { name: 'alice', uid: 'u', groups: [] },
  dryRun: false,
  now: '2026-01-01T00:00:00Z',
};

const length = 20_000;
const texts: Readonly<Record<string, string>> = {
  ones: `${'1'.repeat(length)}!`,
  zeros: `${'0'.repeat(length)}!`,
  letters: `${'a'.repeat(length)}!`,
  'parts of a name': `${'a.'.repeat(length / 2)}!`,
  dashes: `${'-'.repeat(length)}!`,
  'letters and dashes': `${'a-'.repeat(length / 2)}!`,
  blanks: `${' '.repeat(length)}!`,
  colons: `${'1:'.repeat(length / 2)}!`,
  slashes: `${'a/'.repeat(length / 2)}!`,
  commas: `${'a,'.repeat(length / 2)}!`,
  'equals signs': `${'a='.repeat(length / 2)}!`,
  'percent signs': `${'%41'.repeat(length / 3)}%`,
  variables: `${'$(a)'.repeat(length / 4)}$(`,
  brackets: `${'['.repeat(length)}!`,
  units: `${'1h'.repeat(length / 2)}!`,
};

it.each(Object.entries(texts))('validation handles a long run of %s in any string', { timeout: 120_000 }, (_, text) => {
  const slow: string[] = [];
  for (const { name, json } of recorded) {
    const { apiVersion, kind } = JSON.parse(json) as KubeObject;
    const definition = definitions.find((one) => one.kind === kind && [one.group, one.version].filter(Boolean).join('/') === apiVersion);
    if (!definition) continue;
    const changed = JSON.stringify(JSON.parse(json), (key, value: unknown) =>
      typeof value === 'string' && key !== 'kind' && key !== 'apiVersion' ? text : value,
    );
    const began = threadMilliseconds();
    let object: KubeObject | undefined;
    try {
      object = decode(schema.struct(definition.schema), parseJson(Buffer.from(changed)).value).object as KubeObject;
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
    }
    if (object) {
      definition.defaults?.(object as never);
      const { strategy } = definition;
      for (const rule of ['prepareForCreate', 'validate', 'warningsOnCreate'] as const) {
        try {
          strategy?.[rule]?.(object as never, context as never);
        } catch (error) {
          if ((error as Error).name !== 'TooManyErrors') throw error;
        }
      }
    }
    const ms = Math.round(threadMilliseconds() - began);
    if (ms > 2_000) slow.push(`${name}: ${ms} ms`);
  }
  expect(slow).toEqual([]);
});
