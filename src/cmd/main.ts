import { fileURLToPath } from 'node:url';
import { tuneEngine } from './engine/engine.ts';

tuneEngine(fileURLToPath(new URL('../../.compile-cache', import.meta.url)));
const { runCommand } = await import('./commands/commands.ts');
process.exitCode = await runCommand(process.argv.slice(2));
// A failed command may leave open what it could not close; that must not keep the process alive.
if (process.exitCode !== 0) setTimeout(() => process.exit(), 2_000).unref();
