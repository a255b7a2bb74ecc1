// Runs Biome (format and rules), ESLint (rules that need types), check-language (wording), check-links (dead links) and check-state
// (variables of modules). All steps run; the exit code is 1 if any of them fails.
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(fileURLToPath(import.meta.url), '../..');
const biome = join(root, 'node_modules/@biomejs/biome/bin/biome');
const eslint = join(root, 'node_modules/eslint/bin/eslint.js');
const steps = [
  [biome, 'format', '.'],
  [biome, 'lint', '--error-on-warnings', '.'],
  [eslint, '--max-warnings=0', 'src', 'plugins', 'test', 'scripts'],
  [join(root, 'scripts/check-language.mjs')],
  [join(root, 'scripts/check-links.mjs')],
  [join(root, 'scripts/check-state.mjs')],
];
for (const step of steps) {
  const { status } = spawnSync(process.execPath, step, { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exitCode = 1;
}
