import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(root, 'test/reporter/tmp-'));
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** Runs vitest with the reporter on one file of tests; returns its output. */
function run(tests: string): string {
  const file = join(folder, 'sample.test.ts');
  writeFileSync(file, `import { writeSync } from 'node:fs';\nimport { it } from 'vitest';\n${tests}\n`);
  writeFileSync(join(folder, 'vitest.config.ts'), "export default { test: { include: ['*.test.ts'], pool: 'forks' } };\n");
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const args = [vitest, 'run', '--root', folder, '--reporter=default', `--reporter=${join(root, 'test/reporter/summary.ts')}`];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env: { ...process.env, NO_COLOR: '1' } });
  return stdout + stderr;
}

it('hides the log of a run that passes, and ends with a summary', () => {
  const output = run(`
    it('logs', () => { writeSync(2, 'a line of the server\\n'); });
    it('needs a tool', ({ skip }) => { skip('there is no etcd'); });
    it('needs it, too', ({ skip }) => { skip('there is no etcd'); });
  `);
  expect(output).not.toContain('a line of the server');
  expect(output).toMatch(/1 passed, 0 failed, 2 skipped\nSkipped:\n {2}2 {2}there is no etcd\nThe 3 slowest:\n/);
});

it('shows the log beside a test that fails', () => {
  const output = run(`it('fails', () => { writeSync(2, 'a line of the server\\n'); throw new Error('no'); });`);
  expect(output).toMatch(/Log of the servers during .*sample\.test\.ts, the last 1 lines:\na line of the server\n/);
  expect(output).toMatch(/0 passed, 1 failed, 0 skipped\nFailed:\n {2}.*sample\.test\.ts: fails\n/);
});
