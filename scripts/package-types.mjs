// Assembles the package's declarations: those of `exports` and everything they refer to, including other packages, so that
// they compile in a project with only @types/node. Declarations keep their files; imports are rewritten to relative paths.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';

/** Optional packages of a project; if one is missing, types from it are `any`. */
const optional = ['@kubernetes/client-node', 'vitest'];
const options = { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, target: ts.ScriptTarget.ES2024 };
const foreignFolder = 'dist/types/packages';
const nodeReference = '/// <reference types="node" />\n';

/**
 * Copies the declarations of a checkout (written by scripts/build-types.mjs) to the package folder. `entries` are files
 * relative to both. Returns the folders of the packages with included declarations, relative to the checkout.
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

/** Returns the rewritten text of a file and the files that it imports. */
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

/** Returns the module specifiers in a file with their positions, in order. */
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

/** Returns the package folder of a file, `node_modules/NAME`; undefined for files of the checkout. */
function packageOf(root, file) {
  return relative(root, file).match(/^(.*\/)?node_modules\/(@[^/]+\/)?[^/]+/)?.[0];
}

/** Returns the package.json that determines the module type of a file. */
function scopeOf(root, file) {
  const folder = packageOf(root, file);
  if (folder === undefined) return [];
  let scope = dirname(file);
  while (!existsSync(join(scope, 'package.json'))) scope = dirname(scope);
  return join(scope, 'package.json');
}

/** Returns the path of a file in the package. npm excludes folders named node_modules. */
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
