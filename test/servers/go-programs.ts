import { execFile, execFileSync } from 'node:child_process';
import { promisify } from 'node:util';

/** Prevents downloads: a test is skipped if a module is missing. */
const offline = { ...process.env, GOPROXY: 'off', GOFLAGS: '-mod=readonly -buildvcs=false' };

/** Returns the reason why a folder's Go program cannot be built; undefined if it can. */
export function goObstacle(folder: string): string | undefined {
  try {
    execFileSync('go', ['list', '-deps', './...'], { cwd: folder, env: offline, stdio: 'ignore' });
    return undefined;
  } catch {
    return `there is no Go, or modules of the program are not in its cache: go mod download in ${folder} gets them`;
  }
}

/** Builds a package of a Go module. */
export async function buildGoProgram(folder: string, path: string, into: string): Promise<void> {
  await promisify(execFile)('go', ['build', '-o', into, path], { cwd: folder, env: offline });
}
