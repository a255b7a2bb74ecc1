// check-state: compares the mutable state of modules in src and plugins with the tables of docs/internals/state.md. Exit code 1 if a row is
// missing, or has no such variable. `check-state --list` prints the variables.
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = resolve(fileURLToPath(import.meta.url), '../..');
const page = 'docs/internals/state.md';

/** Classes whose instances do not change after their creation, or only to complete themselves from files of the package. */
const constantClasses =
  /^(?:CelType|FieldSelector|LabelSelector|Message|Metadata|Pause|RegExp|SchemaRegistry|Structural|TableColumn|TableFolder|TextDecoder|TextEncoder|URLSearchParams|\w*Error)$/;

/** Files that run in a worker thread of one server, or only in tests. */
const excluded = [
  '**/*.gen.ts',
  '**/*.test.ts',
  '**/test-*.ts',
  '**/fixtures.ts',
  'plugins/*/*/testing/**',
  '**/dist/**',
  '**/node_modules/**',
];
const entryOfThread = /\/(?:commit-worker|plugin-worker-thread|transport-worker)\.ts$/;

/** Returns the names of the top-level variables of a source text that can change: `let`, empty collections and instances of classes. */
export function stateOf(source) {
  const file = ts.createSourceFile('source.ts', source, ts.ScriptTarget.Latest, true);
  return file.statements
    .filter(ts.isVariableStatement)
    .flatMap(({ declarationList }) =>
      declarationList.declarations
        .filter((declaration) => (declarationList.flags & ts.NodeFlags.Const) === 0 || isMutable(declaration, file))
        .map(({ name }) => name.getText(file)),
    );
}

function isMutable({ type, initializer }, file) {
  if (!initializer || /^readonly\b|^Readonly/.test(type?.getText(file) ?? '')) return false;
  let mutable = false;
  const visit = (node) => {
    if (ts.isFunctionLike(node) || ts.isClassLike(node)) return;
    if (ts.isNewExpression(node)) mutable ||= createsState(node, file);
    ts.forEachChild(node, visit);
  };
  visit(initializer);
  return mutable || (ts.isArrayLiteralExpression(initializer) && initializer.elements.length === 0);
}

/** A collection that is created with its content is taken for a constant table. */
function createsState({ expression, arguments: args = [] }, file) {
  const name = expression.getText(file);
  return /^(?:Weak)?(?:Map|Set)$/.test(name) ? args.length === 0 : !constantClasses.test(name);
}

/** Returns the variables of all files as `file: name`. */
function allState() {
  return globSync(['src/**/*.ts', 'plugins/**/*.ts'], { cwd: root, exclude: excluded })
    .filter((file) => !/^(?:src\/sdk\/testing|src\/testing|plugins\/example)\//.test(file) && !entryOfThread.test(file))
    .sort()
    .flatMap((file) => stateOf(readFileSync(join(root, file), 'utf8')).map((name) => `${file}: ${name}`));
}

/** Returns the variables that the tables name: the first cell has the file, the second one the names. */
export function documentedState(text) {
  return [...text.matchAll(/^\| +`([^`]+\.ts)` +\|([^|]+)\|/gm)].flatMap(([, file, names]) =>
    [...names.matchAll(/`([^`]+)`/g)].map(([, name]) => `${file}: ${name}`),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const actual = allState();
  if (process.argv.includes('--list')) console.log(actual.join('\n'));
  const documented = documentedState(readFileSync(join(root, page), 'utf8'));
  const missing = actual.filter((each) => !documented.includes(each));
  const unknown = documented.filter((each) => !actual.includes(each));
  for (const each of missing) console.error(`${each}: state of a module without a row in ${page}`);
  for (const each of unknown) console.error(`${page}: no such state: ${each}`);
  if (missing.length + unknown.length > 0) process.exitCode = 1;
}
