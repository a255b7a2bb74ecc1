// Generates the files named in `exports` of package.json: each checks the Node version before it loads the bundle, whose
// syntax and modules older versions do not support. The stubs themselves run on Node 12.
import { dirname, relative } from 'node:path';

/** File of the check in the build folder. */
export const nodeCheckFile = 'node-check.js';

/**
 * Returns the source of the check. It prints the message, because Node would start with the position of the throw, and
 * throws it, so that a dynamic import can catch it. Other runtimes have their own version numbers.
 */
export function nodeCheckText(oldest) {
  return `import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
const needed = '${oldest}';
const { bun, deno, node } = process.versions;
const parts = (version) => version.split('.').map(Number);
const differs = parts(needed).findIndex((part, i) => part !== parts(node)[i]);
if (!bun && !deno && differs >= 0 && parts(node)[differs] < parts(needed)[differs]) {
  // A checkout has its own Node, which bin/kubenest uses.
  const own = fileURLToPath(new URL('../.node', import.meta.url));
  const hint = existsSync(own + '/node') ? '; the checkout has one: PATH=' + own + ':$PATH' : '';
  const message = 'kubenest needs Node ' + needed + ' or newer, and this is ' + process.version + hint;
  console.error(message);
  throw new Error(message);
}
`;
}

/**
 * Returns the source of `file`, which re-exports `module`. Both are paths in the build folder. CommonJS can require the file
 * unless `module` has a top-level await (`awaits`), for example of a test runner.
 */
export function stubText(file, module, names, awaits) {
  const from = (path) => `./${relative(dirname(file), path)}`;
  const [prelude, loaded] = awaits
    ? ['', `await import('${from(module)}')`]
    : [`import { createRequire } from 'node:module';\n`, `createRequire(import.meta.url)('${from(module)}')`];
  return `import '${from(nodeCheckFile)}';\n${prelude}export const { ${names.join(', ')} } = ${loaded};\n`;
}
