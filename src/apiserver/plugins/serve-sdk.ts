import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

let isServed = false;

/**
 * Makes imports of `kubenest/sdk` (and the other exports) resolve to this server's copy, wherever the importing package is
 * and whatever it has installed, so that plugin and server share the same classes; a plugin's StatusError is then recognized
 * by the server.
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

/** Returns the root folder of this package. Built files have a package.json without a name beside them. */
function ownFolder(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); folder !== dirname(folder); folder = dirname(folder)) {
    if (nameIn(join(folder, 'package.json')) === 'kubenest') return folder;
  }
  throw new Error('the server is not inside its package');
}

function nameIn(file: string): unknown {
  try {
    return (JSON.parse(readFileSync(file, 'utf8')) as { readonly name?: unknown }).name;
  } catch {
    return undefined;
  }
}
