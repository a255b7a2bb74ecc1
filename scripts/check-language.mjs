// check-language [PATH...]: finds wording in comments, test names and identifiers that the language guide excludes. Without paths it checks
// `finishedFolders`. Exit code 1 if there is a finding.
import { globSync, readFileSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = resolve(fileURLToPath(import.meta.url), '../..');

/** Folders whose texts follow the guide; lint keeps them so. Add a folder once it has no findings. */
const finishedFolders = [
  'plugins',
  'scripts',
  'src/apiextensions-apiserver',
  'src/apimachinery',
  'src/apiserver',
  'src/cmd',
  'src/kube-aggregator',
  'src/kubernetes',
  'src/sdk',
  'src/testing',
  'test',
];

const nounOrVerb = 'start with a noun phrase or a verb in the third person ("Returns …", "True if …", "Number of …")';

/** Each rule has a pattern, the name that is printed, and the form to write instead. */
const rules = [
  {
    name: 'opening',
    pattern: /^(?:What|Of|Whether|How|Who|Whom|Whose|Where|Which)\b/i,
    better: nounOrVerb,
  },
  {
    name: 'inverted sentence',
    pattern: /[.;] (?:What|Of|Whether|Who|Whom|Whose)\b(?![^.]*\?)/,
    better: 'start the sentence with its subject',
  },
  {
    name: 'inverted sentence',
    pattern:
      /\bwhat (?:is|are|was|were) (?:(?!if\b|when\b|that\b|which\b|because\b|while\b|where\b|how\b)[\w'`-]+ ){1,5}(?:is|are|was|were|stays|remains) /i,
    better: 'name the subject ("Unknown fields are dropped")',
  },
  { name: 'tell', pattern: /\b(?:tell|tells|told|telling)\b/i, better: 'report, log, record, return; "distinguish" for two things' },
  { name: 'stranger', pattern: /\bstrangers?\b/i, better: 'unauthenticated client, anonymous' },
  { name: 'in parts', pattern: /\bin (?:parts|steps)\b/i, better: 'chunked; yields to the event loop' },
  { name: 'turn of others', pattern: /\bturns? of (?:the )?others?\b/i, better: 'yields to the event loop' },
  { name: 'comes to', pattern: /\bcomes? to (?!the (?:end|front)\b)/i, better: 'returns, fails with, results in' },
  { name: 'named so', pattern: /\b(?:is|are|was|were) named so\b/i, better: 'unknown X "y"' },
  { name: 'nobody waits', pattern: /\b(?:nobody|no one|none) waits\b/i, better: 'unhandled promise rejection; unobserved promise' },
  {
    name: 'whoever',
    pattern: /\b(?:whoever|those who|the one who)\b|\bthat one(?= (?:is|was|has|can|may|does)\b|[.,;:)])/i,
    better: 'name the caller, handler or owner',
  },
];

/** Words that are no part of an identifier either. */
const identifierRules = [
  { name: 'tell', pattern: /^(?:tell|tells|told|telling|teller)$/i, better: 'report, log, record, return, or the name of the thing' },
];

/** The comments and test names of a source text, each with its first line (counted from 1); line comments that follow each other are one. */
export function textsOf(source) {
  const file = ts.createSourceFile('source.ts', source, ts.ScriptTarget.Latest, true);
  const literals = [];
  const names = [];
  const visit = (node) => {
    if (ts.isLiteralExpression(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)) literals.push(node);
    if (ts.isCallExpression(node) && isTest(node.expression)) names.push(...nameOf(node.arguments[0]));
    ts.forEachChild(node, visit);
  };
  visit(file);
  const lineOf = (position) => file.getLineAndCharacterOfPosition(position).line + 1;
  return [
    ...commentsOf(source, literals, lineOf),
    ...names.map((name) => ({ kind: 'test name', line: lineOf(name.getStart(file)), text: textOf(name, file) })),
  ];
}

function isTest(callee) {
  if (ts.isIdentifier(callee)) return ['it', 'test', 'describe'].includes(callee.text);
  if (ts.isCallExpression(callee) || ts.isPropertyAccessExpression(callee)) return isTest(callee.expression);
  return false;
}

function nameOf(argument) {
  return argument && (ts.isStringLiteralLike(argument) || ts.isTemplateExpression(argument)) ? [argument] : [];
}

function textOf(name, file) {
  return ts.isStringLiteralLike(name) ? name.text : name.getText(file).slice(1, -1);
}

function commentsOf(source, literals, lineOf) {
  const comments = [];
  const comment = /\/\/(.*)|\/\*([\s\S]*?)\*\//g;
  let previous;
  for (const [start, end] of gaps(source, literals)) {
    comment.lastIndex = start;
    for (let found = comment.exec(source); found && found.index < end; found = comment.exec(source)) {
      const line = lineOf(found.index);
      if (found[1] !== undefined && previous?.lastLine === line - 1 && standsAlone(source, found.index)) {
        previous.text += ` ${found[1].trim()}`;
        previous.lastLine = line;
        continue;
      }
      const text = found[1] ?? found[2].replace(/^\*/, '').replace(/\n\s*\*/g, ' ');
      const each = { kind: 'comment', line, text: text.replace(/\s+/g, ' ').trim() };
      comments.push(each);
      previous = found[1] !== undefined && standsAlone(source, found.index) ? Object.assign(each, { lastLine: line }) : undefined;
    }
  }
  return comments;
}

/** True if a line has nothing before its comment. */
function standsAlone(source, position) {
  return source.slice(source.lastIndexOf('\n', position) + 1, position).trim() === '';
}

/** The ranges of a source text between its literals. */
function* gaps(source, literals) {
  let start = 0;
  for (const literal of literals.toSorted((a, b) => a.getStart() - b.getStart())) {
    yield [start, literal.getStart()];
    start = literal.end;
  }
  yield [start, source.length];
}

/** Checks a source text. Returns its findings: line, rule, the words found and the form to write instead. */
export function check(source) {
  return [...checkTexts(source), ...checkIdentifiers(source)].sort((a, b) => a.line - b.line);
}

function checkTexts(source) {
  return textsOf(source).flatMap(({ line, text }) =>
    rules.flatMap(({ name, pattern, better }) => {
      // A quotation or a piece of code is not our wording.
      const found = pattern.exec(text.replace(/`[^`]*`|"[^"]*"/g, (quoted) => quoted[0] + quoted.at(-1)));
      return found ? [{ line, rule: name, found: found[0].trim(), better }] : [];
    }),
  );
}

/** Finds excluded words in the names that a source text declares or uses. */
function checkIdentifiers(source) {
  const file = ts.createSourceFile('source.ts', source, ts.ScriptTarget.Latest, true);
  const findings = [];
  const visit = (node) => {
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node))
      for (const { name, pattern, better } of identifierRules)
        if (wordsOf(node.text).some((word) => pattern.test(word))) {
          const { line } = file.getLineAndCharacterOfPosition(node.getStart(file));
          findings.push({ line: line + 1, rule: name, found: node.text, better });
        }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return findings;
}

/** Splits an identifier into its words: `tellsStorage` into `tells` and `Storage`. */
function wordsOf(identifier) {
  return identifier.split(/[^A-Za-z]+|(?<=[a-z])(?=[A-Z])/);
}

function filesOf(path) {
  if (statSync(path).isFile()) return [path];
  return globSync('**/*.{ts,mjs}', { cwd: path, exclude: ['**/node_modules/**', '**/dist/**', '**/*.gen.ts'] })
    .sort()
    .map((each) => join(path, each));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const paths = process.argv.slice(2);
  for (const path of paths.length > 0 ? paths.map((each) => resolve(each)) : finishedFolders.map((each) => join(root, each)))
    for (const file of filesOf(path))
      for (const { line, rule, found, better } of check(readFileSync(file, 'utf8'))) {
        console.error(`${relative('.', file)}:${line}: ${rule} (${found}): ${better}`);
        process.exitCode = 1;
      }
}
