// check-language [PATH...]: finds wording in comments, test names, messages, identifiers and Markdown files that the language guide
// excludes. Without paths it checks `finishedPaths`. Exit code 1 if there is a finding.
import { globSync, readFileSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = resolve(fileURLToPath(import.meta.url), '../..');

/** Files and folders whose texts follow the guide; lint keeps them so. */
const finishedPaths = [
  'CONTRIBUTING.md',
  'README.md',
  'SECURITY.md',
  'bin/kubenest',
  'docs',
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

/** Each rule has a pattern, the name that is printed, and the form to write instead. `kinds`: the only kinds of text it applies to. */
const rules = [
  {
    name: 'opening',
    kinds: ['comment', 'test name'],
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
  {
    name: 'late negation',
    kinds: ['test name'],
    pattern: /^(?!(?:does|is|was|has|needs)\b)[a-z]+s not (?!only\b)/,
    better: '"does not …"',
  },
  { name: 'tell', pattern: /\b(?:tell|tells|told|telling)\b/i, better: 'report, log, record, return; "distinguish" for two things' },
  { name: 'stranger', pattern: /\bstrangers?\b/i, better: 'unauthenticated client, anonymous' },
  { name: 'in parts', pattern: /\bin (?:parts|steps)\b/i, better: 'chunked; yields to the event loop' },
  { name: 'turn of others', pattern: /\bturns? of (?:the )?others?\b/i, better: 'yields to the event loop' },
  { name: 'comes to', pattern: /\bcomes? to (?!the (?:end|front)\b)/i, better: 'returns, fails with, results in' },
  { name: 'named so', pattern: /\b(?:is|are|was|were) named so\b/i, better: 'unknown X "y"' },
  { name: 'nobody', pattern: /\b(?:nobody|everybody|somebody)\b/i, better: 'name the client, user or caller; "unhandled" for promises' },
  {
    name: 'go on',
    pattern: /\b(?:go|goes|went|going|gone) on\b(?=[.,;:)]|$| (?:after|with|without|in|until|and|below|at)\b)/,
    better: 'continue',
  },
  { name: 'for ever', pattern: /\bfor (?:ever|good)\b/i, better: 'indefinitely, permanently, without end' },
  {
    name: 'is no',
    pattern: /\b(?:that|which|it|what) is no (?!longer|more|less|need|such|other|further|reason|larger)/i,
    better: '"is not a …"',
  },
  { name: 'starts so', pattern: /\b(?:starts?|begins?|ends?) so\b/i, better: 'starts with …' },
  { name: 'that is there', pattern: /\b(?:that|which|what) (?:is|are) there\b/i, better: 'existing, present, available' },
  { name: 'but for', pattern: /\b(?:nothing but|but for (?:what|the \w+ itself))\b/i, better: 'except, only' },
  { name: 'anew', pattern: /\banew\b/i, better: 'again' },
  {
    name: 'ask',
    pattern: /\b(?:ask(?:s|ed|ing)? (?:for|to|whether|if)|(?:is|are|was|were|be|been) asked)\b/i,
    better: 'request, query, require',
  },
  {
    name: 'say',
    pattern: /\b(?:says?|said|saying) (?:so|otherwise|that|what|when|where|whether|how|why|nothing)\b|\bas (?:[\w'-]+ ){1,4}says?\b/i,
    better: 'report, list, define, specify, describe',
  },
  { name: 'let go', pattern: /\blets? (?:[\w-]+ ){0,6}go\b/i, better: 'release, remove the finalizer' },
  { name: 'look', pattern: /\b(?:looks? at|looked at|looking at|(?:a|two) looks?)\b/i, better: 'check, process, read' },
  {
    name: 'whoever',
    pattern: /\b(?:whoever|those who|the one who)\b|\bthat one(?= (?:is|was|has|can|may|does)\b|[.,;:)])/i,
    better: 'name the caller, handler or owner',
  },
];

/** Words that identifiers do not contain either. */
const identifierRules = [
  { name: 'tell', pattern: /^(?:tell|tells|told|telling|teller)$/i, better: 'report, log, record, return, or the name of the thing' },
];

/**
 * The comments, test names and messages of a source text, each with its first line (counted from 1); line comments that follow each other
 * are one. Messages are those of errors and logs; what clients see of upstream is among them.
 */
export function textsOf(source) {
  const file = ts.createSourceFile('source.ts', source, ts.ScriptTarget.Latest, true);
  const literals = [];
  const names = [];
  const messages = [];
  const visit = (node) => {
    if (ts.isLiteralExpression(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)) literals.push(node);
    if (ts.isCallExpression(node) && isTest(node.expression)) names.push(...textNodes(node.arguments[0]));
    if (isMessage(node)) messages.push(...(node.arguments ?? []).flatMap(textNodes));
    ts.forEachChild(node, visit);
  };
  visit(file);
  const lineOf = (position) => file.getLineAndCharacterOfPosition(position).line + 1;
  return [
    ...commentsOf(source, literals, lineOf),
    ...names.map((name) => ({ kind: 'test name', line: lineOf(name.getStart(file)), text: textOf(name, file) })),
    ...messages.map((message) => ({ kind: 'message', line: lineOf(message.getStart(file)), text: textOf(message, file) })),
  ];
}

function isTest(callee) {
  if (ts.isIdentifier(callee)) return ['it', 'test', 'describe'].includes(callee.text);
  if (ts.isCallExpression(callee) || ts.isPropertyAccessExpression(callee)) return isTest(callee.expression);
  return false;
}

/** True if the arguments of a call are the text of an error or a log line. */
function isMessage(node) {
  if (ts.isNewExpression(node)) return ts.isIdentifier(node.expression) && node.expression.text.endsWith('Error');
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return false;
  return ['debug', 'info', 'warn', 'error'].includes(node.expression.name.text);
}

function textNodes(argument) {
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

/** The paragraphs, list items and table rows of a Markdown text, each with its first line; without code, quotations and link targets. */
export function paragraphsOf(markdown) {
  const paragraphs = [];
  let isCode = false;
  let isContinued = false;
  for (const [index, text] of markdown.split('\n').entries()) {
    if (/^\s*```/.test(text)) isCode = !isCode;
    const isText = !isCode && /\S/.test(text) && !/^\s*```|^#|^ {4}\S/.test(text);
    if (isText && isContinued && !/^\s*(?:[-*|]|\d+\.) ?/.test(text)) paragraphs.at(-1).text += ` ${text.trim()}`;
    else if (isText) paragraphs.push({ kind: 'paragraph', line: index + 1, text: text.trim() });
    isContinued = isText;
  }
  return paragraphs.map((each) => ({ ...each, text: each.text.replace(/\]\([^)]*\)/g, ']') }));
}

/** Checks a source text. Returns its findings: line, rule, the words found and the form to write instead. */
export function check(source) {
  return [...checkTexts(textsOf(source)), ...checkIdentifiers(source)].sort((a, b) => a.line - b.line);
}

/** The comments of a shell script, each with its first line; comments on lines that follow each other are one. */
function shellCommentsOf(script) {
  const comments = [];
  for (const [index, line] of script.split('\n').entries()) {
    const text = /^\s*# (.*)/.exec(line)?.[1];
    if (text === undefined) continue;
    const last = comments.at(-1);
    if (last?.lastLine === index) Object.assign(last, { text: `${last.text} ${text}`, lastLine: index + 1 });
    else comments.push({ kind: 'comment', line: index + 1, text, lastLine: index + 1 });
  }
  return comments;
}

/** Checks a shell script. */
export function checkShell(script) {
  return checkTexts(shellCommentsOf(script));
}

/** Checks a Markdown text. */
export function checkMarkdown(markdown) {
  return checkTexts(paragraphsOf(markdown));
}

function checkTexts(texts) {
  return texts.flatMap(({ kind, line, text }) =>
    rules.flatMap(({ name, kinds, pattern, better }) => {
      if (kinds && !kinds.includes(kind)) return [];
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
  return globSync('**/*.{ts,mjs,md}', { cwd: path, exclude: ['**/node_modules/**', '**/dist/**', '**/*.gen.ts', '**/CHANGELOG.md'] })
    .sort()
    .map((each) => join(path, each));
}

/** Returns the check for the language of a file. */
function checkOf(file) {
  if (file.endsWith('.md')) return checkMarkdown;
  return file.endsWith('.ts') || file.endsWith('.mjs') ? check : checkShell;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const paths = process.argv.slice(2);
  for (const path of paths.length > 0 ? paths.map((each) => resolve(each)) : finishedPaths.map((each) => join(root, each)))
    for (const file of filesOf(path))
      for (const { line, rule, found, better } of checkOf(file)(readFileSync(file, 'utf8'))) {
        console.error(`${relative('.', file)}:${line}: ${rule} (${found}): ${better}`);
        process.exitCode = 1;
      }
}
