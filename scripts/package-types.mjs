// The declarations of the package: those of what `exports` names and all that they need, other packages' too, so that they compile in a
// project that has only @types/node. A package's declarations keep their files; the names by which files import each other become paths.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';

/** What a project may have installed or not: where it has not, a type from it is `any`. */
const optional = ['@kubernetes/client-node', 'vitest'];
const options = { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, target: ts.ScriptTarget.ES2024 };
const foreignFolder = 'dist/types/packages';
const nodeReference = '/// <reference types="node" />\n';

/**
 * Copies declarations from a checkout that has written its own (scripts/build-types.mjs) to the folder of a package. `entries` are files
 * relative to both. Returns the folders of the packages whose declarations are among them, relative to the checkout.
 */
export function copyTypes(root, into, entries) {
  const copied = new Set();
  const waiting = entries.map((entry) => join(root, entry));
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (copied.has(file)) continue;
    const { text, needed } = rewritten(root, file);
    copied.add(file);
    write(join(into, placeOf(root, file)), entries.includes(relative(root, file)) ? nodeReference + text : text);
    waiting.push(...needed);
  }
  const packages = new Set([...copied].flatMap((file) => packageOf(root, file) ?? []));
  for (const scope of new Set([...copied].flatMap((file) => scopeOf(root, file)))) {
    const { version, type = 'commonjs' } = JSON.parse(readFileSync(scope, 'utf8'));
    write(join(into, placeOf(root, scope)), `${JSON.stringify({ version, type })}\n`);
  }
  return [...packages].toSorted();
}

/** The text of a file for the package, and the files that it needs. */
function rewritten(root, file) {
  const text = readFileSync(file, 'utf8');
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2024);
  const needed = source.referencedFiles.map(({ fileName }) => join(dirname(file), fileName));
  let result = '';
  let end = 0;
  for (const { text: name, start } of specifiersIn(source)) {
    const target = resolved(file, name);
    if (optional.includes(name)) {
      const line = Math.max(end, text.lastIndexOf('\n', start) + 1);
      result += `${text.slice(end, line)}// @ts-ignore\n`;
      end = line;
    } else if (target !== undefined) {
      needed.push(target);
      const path = name.startsWith('.') ? name.replace(/\.ts$/, '.js') : specifier(placeOf(root, file), placeOf(root, target));
      result += text.slice(end, start) + path;
      end = start + name.length;
    } else if (!isBuiltin(name)) {
      throw new Error(`${relative(root, file)} imports ${name}, which has no declarations`);
    }
  }
  return { text: withoutSourceMap(result + text.slice(end)), needed };
}

/** The names of modules in a file, and where their text begins, in the order of the file. */
function specifiersIn(source) {
  const found = [];
  const visit = (node) => {
    const literal = node.moduleSpecifier ?? node.argument?.literal ?? node.moduleReference?.expression;
    if (literal && ts.isStringLiteral(literal)) found.push({ text: literal.text, start: literal.getStart(source) + 1 });
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

const isBuiltin = (name) => process.getBuiltinModule(name) !== undefined;

function resolved(file, name) {
  if (isBuiltin(name)) return undefined;
  const mode = ts.getImpliedNodeFormatForFile(file, undefined, ts.sys, options);
  const { resolvedModule } = ts.resolveModuleName(name, file, options, ts.sys, undefined, undefined, mode);
  return resolvedModule && /\.d\.[cm]?ts$/.test(resolvedModule.resolvedFileName) ? resolvedModule.resolvedFileName : undefined;
}

/** The folder of the package that a file belongs to, `node_modules/NAME`; undefined for one of the checkout. */
function packageOf(root, file) {
  return relative(root, file).match(/^(.*\/)?node_modules\/(@[^/]+\/)?[^/]+/)?.[0];
}

/** The package.json of a package that says of which type a file of its is. */
function scopeOf(root, file) {
  const folder = packageOf(root, file);
  if (folder === undefined) return [];
  let scope = dirname(file);
  while (!existsSync(join(scope, 'package.json'))) scope = dirname(scope);
  return join(scope, 'package.json');
}

/** Where a file stands in the package. npm packs no folder that is called node_modules. */
function placeOf(root, file) {
  const path = relative(root, file);
  const folder = packageOf(root, file);
  if (folder === undefined) return path;
  return `${foreignFolder}/${folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length)}${path.slice(folder.length)}`;
}

function specifier(from, to) {
  const path = relative(dirname(from), to).replace(/\.d\.([cm]?)ts$/, '.$1js');
  return path.startsWith('.') ? path : `./${path}`;
}

const withoutSourceMap = (text) => text.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n');

function write(file, text) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
