import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ownFolder } from './own-folder.ts';

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
