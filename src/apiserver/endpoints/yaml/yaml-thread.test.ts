import { Buffer } from 'node:buffer';
import { expect, test } from 'vitest';
import { encodeJson } from '#apimachinery/runtime/json/json';
import { parseYaml } from '#apimachinery/runtime/yaml/yaml';
import { encodeYaml } from '#apimachinery/runtime/yaml/yaml-emitter';
import { readYaml, writeYaml } from './yaml-thread.ts';

/** Text after the tested document that makes it large. */
const filler = `filler: "${'x'.repeat(200_000)}"\n`;
const large = (yaml: string): Buffer => Buffer.from(yaml + filler);

const documents: readonly (readonly [what: string, yaml: string])[] = [
  ['maps and lists', 'a: {b: [1, two, {c: d}], e: []}\nf: {}\n'],
  ['numbers', 'a: [1, -7, 0x1F, 0o17, 1_000, 1.5, 1.0, 1e3, 9007199254740993, 18446744073709551615, 1e300]\n'],
  ['words', 'a: [yes, no, ~, null, on, "yes", 2006-01-02]\n'],
  ['texts', 'a: "ä\\u2028\\U0001f600 <&>"\nb: |\n  one\n  two\nc: >-\n  folded\n  text\n'],
  ['anchors', 'a: &x {b: 1}\nc: *x\nd: {<<: *x, e: 2}\n'],
  ['duplicates', 'a: 1\nb: 2\na: 3\n'],
];

test.each(documents)('large YAML is parsed like small YAML: %s', async (_, yaml) => {
  const expected = parseYaml(large(yaml));
  expect(await readYaml(large(yaml))).toEqual(expected);
  expect(Object.keys(expected.value as object)).toContain('filler');
});

test.each([
  ['an open list', 'a: [1\n', 'yaml: '],
  ['an unknown anchor', 'a: *nobody\n', "yaml: unknown anchor 'nobody' referenced"],
  ['an unsupported number', 'a: .nan\n', 'json: unsupported value: NaN'],
  ['brackets that do not match', '{"a": 1,]}\n', 'yaml: '],
  ['too much depth', `a: ${'['.repeat(9_999)}{}${']'.repeat(9_999)}\n`, 'exceeded max depth'],
])('large YAML has the same errors as small YAML: %s', async (_, yaml, message) => {
  let expected: unknown;
  try {
    parseYaml(large(yaml));
  } catch (error) {
    expected = error;
  }
  const error = await Promise.resolve(readYaml(large(yaml))).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(Error);
  expect([(error as Error).name, (error as Error).message]).toEqual([(expected as Error).name, (expected as Error).message]);
  expect((error as Error).message).toContain(message);
});

test.each(['', '\n  '])('large JSON after %j is parsed as YAML', async (blanks) => {
  const bytes = Buffer.from(`${blanks}{"a":1.0,"a":[1e3,12345678901234567890],"filler":"${'x'.repeat(200_000)}"}`);
  const parsed = await readYaml(bytes);
  expect(parsed).toEqual(parseYaml(bytes));
  expect(parsed.duplicateError).toContain('key "a" already set in map');
});

test('the worker thread encodes YAML like the calling thread', async () => {
  const value = { list: [1, 9007199254740993n, 'yes', null], text: 'ä\nb', ...(parseYaml(Buffer.from(filler)).value as object) };
  expect((await writeYaml([Buffer.from(encodeJson(value))])).toString()).toBe(encodeYaml(value));
});

test('JSON that waits for the thread is copied when its turn comes, and is dropped when its client leaves', async () => {
  const json = Buffer.from(`{"filler":"${'x'.repeat(10_000_000)}"}`);
  const { arrayBuffers } = process.memoryUsage();
  const leaves: (() => void)[] = [];
  const written = Array.from({ length: 20 }, () => writeYaml([json], (leave) => void leaves.push(leave)));
  expect(process.memoryUsage().arrayBuffers - arrayBuffers).toBeLessThan(3 * json.length);
  for (const leave of leaves) leave();
  const outcomes = await Promise.allSettled(written);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', ...Array.from({ length: 19 }, () => 'rejected')]);
});

test('parsing does not block the calling thread', async () => {
  const yaml = Buffer.from(Array.from({ length: 60_000 }, (_, i) => `key-${i}: value ${i}\n`).join(''));
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 5);
  const { value } = await readYaml(yaml);
  clearInterval(timer);
  expect(Object.keys(value as object)).toHaveLength(60_000);
  expect(turns).toBeGreaterThan(10);
});
