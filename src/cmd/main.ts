import { fileURLToPath } from 'node:url';
import { tuneEngine } from './engine/engine.ts';

tuneEngine(fileURLToPath(new URL('../../.compile-cache', import.meta.url)));
const { runCommand } = await import('./commands/commands.ts');
process.exitCode = await runCommand(process.argv.slice(2));
