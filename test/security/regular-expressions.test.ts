/** Probes the regular expressions of the code with hostile texts: one whose time is not linear in the text stops the server for minutes. */
import { glob, readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { threadMilliseconds } from '#apimachinery/testing/thread-time';

const root = resolve(import.meta.dirname, '../..');

/** Expressions for texts that are short whatever a client sends, with the reason. */
const shortTexts: Readonly<Record<string, string>> = {
  '/\\.?0+Z$/': 'a timestamp of this server',
  '/0+$/': 'the digits of a second',
  '/(\\d+\\.?\\d*|\\.\\d+)([a-zµμ]+)/g': 'a valid duration, which has a unit after each number',
  '/\\B(?=(\\d{3})+$)/g': 'the digits of a 64-bit number',
};

const lengths = [20, 60, 150, 500, 1_500, 8_000];
/** A linear expression takes well below 1 ms for the longest text. */
const limitMs = 6;
const repetitions = 10;
const surelySlowMs = 500;
const common = [...' \n\t\r0aAZ/.-_:=,;"\'`([{<\\%$*#@&+'];

/** Returns regular expressions with a repetition, by their source. */
async function expressions(): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for await (const file of glob(['src/**/*.ts', 'plugins/**/*.ts'], {
    cwd: root,
    exclude: (path) => path === 'node_modules' || path === 'dist',
  })) {
    if (/\.(?:test|gen)\.ts$|\/testing\//.test(file)) continue;
    const text = await readFile(resolve(root, file), 'utf8');
    // Parsing all files would take longer than the probes.
    if (!/\/[^\n/* ][^\n]*[+*}][^\n]*\/[gimsuy]*[.,;)]/.test(text)) continue;
    const visit = (node: ts.Node): void => {
      if (ts.isRegularExpressionLiteral(node) && /[+*}]/.test(node.text)) found.set(node.text, file);
      ts.forEachChild(node, visit);
    };
    visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, false));
  }
  return found;
}

/** Returns a text for which the expression takes long; undefined if there is none among the probes. */
function hostileText(literal: string): string | undefined {
  const end = literal.lastIndexOf('/');
  const [source, flags] = [literal.slice(1, end), literal.slice(end + 1)];
  const expression = new RegExp(source, flags.includes('g') || flags.includes('y') ? flags : `${flags}g`);
  const millisecondsOf = (text: string, times: number): number => {
    const began = threadMilliseconds();
    for (let i = 0; i < times; i += 1) {
      expression.lastIndex = 0;
      text.replace(expression, '');
    }
    return threadMilliseconds() - began;
  };
  const isSlow = (text: string): boolean => {
    const once = millisecondsOf(text, 1);
    // A single time may be that of the collector, of the compiler, or the kernel's unit of CPU time.
    return once > surelySlowMs || (once > limitMs && millisecondsOf(text, repetitions) > repetitions * limitMs);
  };
  const words = source.replace(/\\[a-zA-Z]/g, ' ').match(/[A-Za-z0-9]{2,}/g) ?? [];
  const first = source.replace(/^\^/, '').replace(/\\(.)/g, '$1').slice(0, 1);
  for (const repeated of new Set([...common, ...words]))
    for (const prefix of new Set(['', first, words[0] ?? '']))
      for (const suffix of ['\u0001', ''])
        for (const length of lengths) {
          const text = prefix + repeated.repeat(Math.ceil(length / repeated.length)) + suffix;
          if (isSlow(text)) return text;
        }
  return undefined;
}

it('takes linear time for hostile texts', { timeout: 120_000 }, async () => {
  const found = await expressions();
  expect(found.size).toBeGreaterThan(200);
  const slow = [...found].flatMap(([literal, file]) => {
    const text = Object.hasOwn(shortTexts, literal) ? undefined : hostileText(literal);
    return text === undefined ? [] : [`${file}: ${literal} for ${JSON.stringify(text.slice(0, 20))} (${text.length} characters)`];
  });
  expect(slow).toEqual([]);
  expect(Object.keys(shortTexts).filter((literal) => !found.has(literal))).toEqual([]);
});
