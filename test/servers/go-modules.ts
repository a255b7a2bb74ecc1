import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Returns the folder of a module in Go's module cache, such as `k8s.io/api@v0.36.3`; undefined if it is missing. Nothing is
 * downloaded.
 */
export function findGoModule(module: string): string | undefined {
  try {
    const folder = join(execFileSync('go', ['env', 'GOMODCACHE'], { encoding: 'utf8' }).trim(), module);
    return existsSync(folder) ? folder : undefined;
  } catch {
    return undefined;
  }
}
