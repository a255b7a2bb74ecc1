// Writes the declarations of the package's exports to dist/types. They are not needed to run a server.
import { spawnSync } from 'node:child_process';
import { utimesSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(fileURLToPath(import.meta.url), '../..');
const started = new Date();
// `npm run types` checks the sources: without a check the declarations are there in a third of the time.
const tsc = [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.types.json', '--noCheck'];
const { status } = spawnSync(process.execPath, tsc, { cwd: root, stdio: 'inherit' });
// The compiler does not rewrite unchanged files; the timestamp records the time of the sources it has read.
if (status === 0) utimesSync(join(root, 'dist/types/.tsbuildinfo'), started, started);
process.exitCode = status ?? 1;
