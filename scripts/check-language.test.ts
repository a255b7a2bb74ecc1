import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { check, checkMarkdown, checkShell, paragraphsOf, textsOf } from './check-language.mjs';

const run = promisify(execFile);
const script = join(import.meta.dirname, 'check-language.mjs');

it.each([
  ['/** What a request may do. */', 'opening'],
  ['/** Of a list, the items. */', 'opening'],
  ['/** Whether it is closed. */', 'opening'],
  ['// How many were read', 'opening'],
  ['/**\n * Who sent it.\n */', 'opening'],
  ['// Where there is none, it is made.', 'opening'],
  ['/** The limit. What is above is refused. */', 'inverted sentence'],
  ['// It is known that what is not read is lost.', 'inverted sentence'],
  ["it('collects not during requests', () => {});", 'late negation'],
  ['/** Tells apart two kinds. */', 'tell'],
  ['// A stranger is refused.', 'stranger'],
  ['/** Reads it in steps. */', 'in parts'],
  ['// It is the turn of others.', 'turn of others'],
  ['/** Fails, which comes to 504. */', 'comes to'],
  ['// No plugin is named so.', 'named so'],
  ['// Nobody waits for it.', 'nobody'],
  ['// The server goes on.', 'go on'],
  ['// It goes on without the file.', 'go on'],
  ["it('rejects what is no archive', () => {});", 'is no'],
  ['/** Returns the line that starts so. */', 'starts so'],
  ['// It keeps the pods that are there.', 'that is there'],
  ['// It reads nothing but the head.', 'but for'],
  ['/** The parser goes on with the next line. */', 'go on'],
  ['/** Ends the thread for good. */', 'for ever'],
  ['// It lists anew.', 'anew'],
  ['// The server is asked last.', 'ask'],
  ['/** The volume that a claim asks for. */', 'ask'],
  ["it('ends as its command says', () => {});", 'say'],
  ['// The status says what failed.', 'say'],
  ["it('lets an unused claim go', () => {});", 'let go'],
  ['/** Looks at a node again. */', 'look'],
  ["throw new TypeError('no server, told so by the store');", 'tell'],
  ["logger.warn({ error }, 'a stranger connected');", 'stranger'],
  ['// It is for whoever reads.', 'whoever'],
  ["it('of a list, reads the items', () => {});", 'opening'],
  ["it.each([1])('is told: %s', () => {});", 'tell'],
  ['const told = 1;', 'tell'],
  ['class A { #tellsAll = true; }', 'tell'],
  ['interface A { readonly lastTold: string }', 'tell'],
  ['describe(`what ' + '$' + '{name} is`, () => {});', 'opening'],
])('finds %j', (source, rule) => {
  expect(check(source).map((finding) => finding.rule)).toContain(rule);
});

it.each([
  ['a string', "const text = '// What is here';"],
  ['a template', 'const text = `/* Of $' + '{value} // whether */`;'],
  ['a regular expression', 'const pattern = /\\/\\*What/;'],
  ['a quotation', '/** The message "what is told is known" of upstream. */'],
  ['a subordinate clause', '/** Reports what the parser rejects and whether it continues. */'],
  ['a following line comment', '// Sections are read to learn\n// what they hold.'],
  ['a longer word in a name', 'const satellite = intelligent + retellable;'],
  ['a function that is no test', "print('what is it');"],
  ['a message with the opening of a question', "throw new Error('what is it');"],
  ['a negation without a noun', '// It is no longer read, and that is no more than a hint.'],
  ['the name of a language', '/** Converts like Go on amd64. */'],
])('accepts %s', (_, source) => {
  expect(check(source)).toEqual([]);
});

it('checks the comments of shell scripts, of which those on lines that follow each other are one', () => {
  const script = '#!/bin/sh\n# Runs the program\n# and goes on.\necho "# told"\n  # What is left.\n';
  expect(checkShell(script).map(({ line, rule }) => [line, rule])).toEqual([
    [2, 'go on'],
    [5, 'opening'],
  ]);
});

it('gives each text its line', () => {
  const source = "const a = 1; // First.\n\n/** Second. */\n// Third\n// and more.\nit('fourth', () => {});\n";
  expect(textsOf(source)).toMatchObject([
    { kind: 'comment', line: 1, text: 'First.' },
    { kind: 'comment', line: 3, text: 'Second.' },
    { kind: 'comment', line: 4, text: 'Third and more.' },
    { kind: 'test name', line: 6, text: 'fourth' },
  ]);
});

it('finds wording in the paragraphs, list items and table rows of Markdown, and not in code and link targets', () => {
  const markdown =
    '# It is told\n\nThe server starts\nand is told.\n\n- A stranger.\n\n| a | for good |\n\n```sh\ntold\n```\n\n`told` [a](told.md)\n';
  expect(checkMarkdown(markdown)).toMatchObject([
    { line: 3, rule: 'tell' },
    { line: 6, rule: 'stranger' },
    { line: 8, rule: 'for ever' },
  ]);
  expect(paragraphsOf(markdown)[0]).toEqual({ kind: 'paragraph', line: 3, text: 'The server starts and is told.' });
});

it('prints file, line, rule and the better form, and exits with 1', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'kubenest-language-'));
  try {
    await writeFile(join(folder, 'wrong.ts'), 'export const a = 1;\n// A stranger.\n');
    await writeFile(join(folder, 'types.gen.ts'), '// A stranger.\n');
    const failure = run(process.execPath, [script, folder]);
    await expect(failure).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^\S*wrong\.ts:2: stranger \(stranger\): unauthenticated client, anonymous\n$/),
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
