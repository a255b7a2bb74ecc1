import { fileURLToPath } from 'node:url';
import { tuneEngine } from './engine.ts';

tuneEngine(fileURLToPath(new URL('../../.compile-cache', import.meta.url)));
const { runCommand } = await import('./commands.ts');
process.exitCode = await runCommand(process.argv.slice(2));
