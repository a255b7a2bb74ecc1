import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

let isServed = false;

/**
 * From now on, whoever imports `kubenest/sdk` (or another of our entries) gets this server's own, wherever it stands and
 * whether or not it has one installed: a denial of a plugin is a denial to the server, because both mean the same class.
 */
export function serveSdk(): void {
  if (isServed) return;
  isServed = true;
  const parentURL = pathToFileURL(join(ownFolder(), 'index.js')).href;
  registerHooks({
    resolve: (specifier, context, next) =>
      next(specifier, specifier === 'kubenest' || specifier.startsWith('kubenest/') ? { ...context, parentURL } : context),
  });
}

/** The folder of the package that this file belongs to; built files have a package.json without a name of their own. */
function ownFolder(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); folder !== dirname(folder); folder = dirname(folder)) {
    if (nameIn(join(folder, 'package.json')) === 'kubenest') return folder;
  }
  throw new Error('the server stands outside of its package');
}

function nameIn(file: string): unknown {
  try {
    return (JSON.parse(readFileSync(file, 'utf8')) as { readonly name?: unknown }).name;
  } catch {
    return undefined;
  }
}
