import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { packageFolder } from '#cmd/package-folder';

/**
 * Writes the type declarations that packages compile against if the running kubenest is a checkout without them: `npm start` does not write
 * them. Throws an Error if they cannot be written.
 */
export async function writeMissingTypes(own = packageFolder()): Promise<void> {
  const script = join(own, 'scripts/build-types.mjs');
  if (existsSync(join(own, 'dist/types')) || !existsSync(script)) return;
  console.error(`writing the type declarations of ${own}`);
  const [code] = (await once(spawn(process.execPath, [script], { stdio: ['ignore', 2, 'inherit'] }), 'exit')) as [number | null];
  if (code !== 0) throw new Error(`cannot write the type declarations of ${own}: ${script} failed`);
}
