import { execFile, execFileSync } from 'node:child_process';
import { promisify } from 'node:util';

/** Nothing is fetched: where a module is missing, a test is skipped. */
const offline = { ...process.env, GOPROXY: 'off', GOFLAGS: '-mod=readonly -buildvcs=false' };

/** Why a Go program of a folder cannot be built here; undefined if it can. */
export function goObstacle(folder: string): string | undefined {
  try {
    execFileSync('go', ['list', '-deps', './...'], { cwd: folder, env: offline, stdio: 'ignore' });
    return undefined;
  } catch {
    return `there is no Go, or modules of the program are not in its cache: go mod download in ${folder} gets them`;
  }
}

/** Builds one package of a module into a file. */
export async function buildGoProgram(folder: string, path: string, into: string): Promise<void> {
  await promisify(execFile)('go', ['build', '-o', into, path], { cwd: folder, env: offline });
}
