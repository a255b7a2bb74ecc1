// Starts and stops the server once to fill the compile cache of dist/.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from './free-port.ts';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const data = mkdtempSync(join(tmpdir(), 'kubenest-build-'));
const port = await freePort();

const server = spawn(join(root, 'bin/kubenest'), ['serve', `--data-dir=${data}`, `--secure-port=${port}`], {
  stdio: ['ignore', 'pipe', 'pipe'],
});
let log = '';
server.stderr.on('data', (text) => {
  log += text;
});
server.stdout.once('data', () => server.kill('SIGTERM'));
const [code] = await once(server, 'exit');
rmSync(data, { recursive: true, force: true });
if (code !== 0) {
  console.error(`${log}warm-up: the built server does not start and stop: exit code ${code}`);
  process.exitCode = 1;
}
