// The files that `exports` of package.json names: each checks the Node that it runs on before anything of the bundle is loaded, whose
// syntax and modules an older Node does not have. All that they use themselves is in Node 12.
import { dirname, relative } from 'node:path';

/** The file of the check, in the folder of the build. */
export const nodeCheckFile = 'node-check.js';

/**
 * Returns the text of the check. It prints the message, since Node would begin with the place that threw, and throws it, so that whoever
 * imports the package dynamically can catch it. Other runtimes have versions of their own.
 */
export function nodeCheckText(oldest) {
  return `const needed = '${oldest}';
const { bun, deno, node } = process.versions;
const parts = (version) => version.split('.').map(Number);
const differs = parts(needed).findIndex((part, i) => part !== parts(node)[i]);
if (!bun && !deno && differs >= 0 && parts(node)[differs] < parts(needed)[differs]) {
  const message = 'kubenest needs Node ' + needed + ' or newer, and this is ' + process.version;
  console.error(message);
  throw new Error(message);
}
`;
}

/**
 * Returns the text of `file`, which exports what `module` does. Both are paths in the folder of the build. CommonJS can require the file,
 * unless `module` waits for something itself (`awaits`), such as a test runner.
 */
export function stubText(file, module, names, awaits) {
  const from = (path) => `./${relative(dirname(file), path)}`;
  const [prelude, loaded] = awaits
    ? ['', `await import('${from(module)}')`]
    : [`import { createRequire } from 'node:module';\n`, `createRequire(import.meta.url)('${from(module)}')`];
  return `import '${from(nodeCheckFile)}';\n${prelude}export const { ${names.join(', ')} } = ${loaded};\n`;
}
