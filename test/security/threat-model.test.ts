import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const pages = ['SECURITY.md', 'docs/internals/threat-model.md', 'docs/guide/hardening.md'];

it.each(pages)('%s refers to existing tests, pages and files', (page) => {
  const text = readFileSync(join(root, page), 'utf8');
  const files = [...text.matchAll(/`((?:test|src|plugins|bin|config)\/[^`* ]+)`/g)].map(([, file = '']) => join(root, file));
  const links = [...text.matchAll(/\]\(([^)#]+)\)/g)].map(([, link = '']) => join(root, dirname(page), link));
  expect([...files, ...links].length).toBeGreaterThan(0);
  expect([...files, ...links].filter((file) => !existsSync(file))).toEqual([]);
});

it('each sender of data has a section with a test, or a reason why there is none', () => {
  const text = readFileSync(join(root, 'docs/internals/threat-model.md'), 'utf8');
  const [, table = ''] = text.split('## Who sends what where');
  const parties = [...table.slice(0, table.indexOf('\n## ')).matchAll(/^\| ([^|]+?) +\|/gm)].map(([, party = '']) => party);
  const sections = new Map(text.split(/^## /m).map((section) => [section.split('\n', 1)[0]?.toLowerCase(), section]));
  expect(parties.slice(2)).toHaveLength(10);
  for (const party of parties.slice(2)) expect(sections.get(party.replace(/ \(.*\)$/, '').toLowerCase())).toMatch(/`[a-z][^`]*\.test\.ts`/);
});
