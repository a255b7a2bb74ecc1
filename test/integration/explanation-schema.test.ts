import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { runCommand } from '#cmd/commands/commands';
import type { Explanation } from '#cmd/explain/explain';
import { type JsonSchema, schemaProblems } from './json-schema.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-explanations-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const pod = `
apiVersion: v1
kind: Pod
metadata: { name: web }
spec: { containers: [{ name: a, image: nginx }] }
`;

it('kubenest explain -o json prints one ExplanationList that its schema describes', async () => {
  const file = join(folder, 'pods.yaml');
  await writeFile(file, `${pod}---${pod.replace('nginx', "''")}`);
  const log = vi.spyOn(console, 'log').mockReturnValue();
  const code = await runCommand(['explain', '-f', file, '--with', 'docs/examples/cel-policies/policies.yaml', '-o', 'json']);
  const list = JSON.parse(log.mock.calls.join('\n')) as { items: Explanation[] };
  log.mockRestore();
  expect(code).toBe(1);
  expect(list.items.map(({ verdict, line, object: { name } }) => ({ verdict, line, name }))).toEqual([
    { verdict: 'admitted', line: 2, name: 'web' },
    { verdict: 'invalid', line: 7, name: 'web' },
  ]);
  const schema = JSON.parse(await readFile('docs/reference/explanation.schema.json', 'utf8')) as JsonSchema;
  expect(schemaProblems(schema, list)).toEqual([]);
  const [first] = list.items;
  for (const wrong of [
    { ...first, verdict: 'fine' },
    { ...first, status: '201' },
    { ...first, more: 1 },
    { ...first, file: undefined },
  ])
    expect(schemaProblems(schema, { ...list, items: [wrong] })).toHaveLength(1);
});
