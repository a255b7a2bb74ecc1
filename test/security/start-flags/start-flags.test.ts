/** Compares security-relevant command lines with a real kube-apiserver, whose behaviour record.ts records. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { completeOptions } from '#cmd/options/complete';
import { readServerOptions } from '../../../src/cmd/options/read-server-options.ts';
import { OptionsError } from '../../../src/cmd/options/options-error.ts';
import { startTestCluster } from '#testing/index';
import { documentOf } from './document.ts';
import { flagsOf, type Outcome, type Row, rows, writeFiles } from './rows.ts';

const recorded = JSON.parse(readFileSync(join(import.meta.dirname, 'outcomes.json'), 'utf8')) as Record<string, Outcome>;
const folder = mkdtempSync(join(tmpdir(), 'start-flags-'));
beforeAll(() => writeFiles(folder));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Returns `starts`, `refused`, or the status that an anonymous client gets. */
async function outcomeOf(row: Row): Promise<number | 'starts' | 'refused'> {
  const flags = flagsOf(row, folder);
  if (row.isAsked) {
    await using cluster = await startTestCluster({ flags });
    return (await cluster.fetch('/api/v1/namespaces', { as: null })).status;
  }
  try {
    const command = await readServerOptions([...flags, '--ephemeral']);
    if (!('options' in command)) throw new Error('missing options');
    await (await completeOptions(command.options)).dispose();
    return 'starts';
  } catch (error) {
    if (error instanceof OptionsError) return 'refused';
    throw error;
  }
}

function expected({ isAsked }: Row, outcome: Outcome | undefined): number | 'starts' | 'refused' | undefined {
  if (!outcome) return undefined;
  if ('refused' in outcome) return 'refused';
  return isAsked ? outcome.anonymous : 'starts';
}

it('has recorded outcomes of at least 100 command lines', () => {
  expect(rows.length).toBeGreaterThanOrEqual(100);
  expect(Object.keys(recorded)).toEqual(rows.map(({ name }) => name));
});

it('equals docs/reference/start-flags.md', () => {
  // Ignores the alignment of columns by the formatter.
  const unaligned = (text: string): string => text.replaceAll(/ +/g, ' ').replaceAll(/ ?-{3,} ?/g, '---');
  const page = readFileSync(join(import.meta.dirname, '../../../docs/reference/start-flags.md'), 'utf8');
  expect(unaligned(page)).toBe(unaligned(documentOf(recorded)));
});

it.each(rows)('$name', async (row) => {
  const outcome = await outcomeOf(row);
  if (row.differs === undefined) expect(outcome).toBe(expected(row, recorded[row.name]));
  else expect(outcome).not.toBe(expected(row, recorded[row.name]));
});
