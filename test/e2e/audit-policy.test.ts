import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { Kubenest } from '../servers/kubenest.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-audit-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

it('reloads the audit policy file, and keeps the previous policy if the new one is invalid', async () => {
  const [policy, log] = [join(folder, 'policy.yaml'), join(folder, 'audit.log')];
  const write = (rules: string): void => writeFileSync(policy, `apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n${rules}\n`);
  const noted = (path: string): boolean => existsSync(log) && readFileSync(log, 'utf8').includes(`"requestURI":"${path}"`);
  write('- level: None');
  await using server = await Kubenest.start(join(folder, 'data'), [`--audit-policy-file=${policy}`, `--audit-log-path=${log}`]);
  await server.fetch('/version?none');
  write('- level: Metadata\n  nonResourceURLs: [/version]\n- level: None');
  await vi.waitFor(
    async () => {
      await server.fetch('/version?metadata');
      expect(noted('/version?metadata')).toBe(true);
    },
    { interval: 100 },
  );
  write('- level: All');
  await vi.waitFor(() => expect(server.log).toContain('cannot reload the changed configuration'), { interval: 100 });
  await server.fetch('/version?old');
  expect([noted('/version?none'), noted('/version?old')]).toEqual([false, true]);
});
