import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// The build fills it, so that no start has to compile what the last one did.
enableCompileCache(fileURLToPath(new URL('../../.compile-cache', import.meta.url)));
const { runCommand } = await import('./commands.ts');
process.exitCode = await runCommand(process.argv.slice(2));
