import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseYaml, YamlError } from './yaml.ts';
import { leastThreadTime } from '../../testing/least-thread-time.ts';
import { encodeYaml } from './yaml-emitter.ts';
import { threadMilliseconds } from '#apimachinery/testing/thread-time';

const parse = (text: string): unknown => parseYaml(Buffer.from(text)).value;

describe('parseYaml', () => {
  test.each<[name: string, text: string, value: unknown]>([
    ['JSON', '{"a":[1,true]}', { a: [1, true] }],
    ['scalars of YAML 1.1', 'a: yes\nb: Off\nc: ~\nd: "yes"\ne: nope\n', { a: true, b: false, c: null, d: 'yes', e: 'nope' }],
    [
      'numbers',
      'a: 0x1f\nb: 012\nc: 1_000\nd: 1.0\ne: 1e3\nf: .5\ng: 08\nh: 1:30\ni: 0b11\n',
      { a: 31, b: 10, c: 1000, d: 1, e: 1000, f: 0.5, g: 8, h: '1:30', i: 3 },
    ],
    ['64 bits', 'a: 9007199254740993\n', { a: 9007199254740993n }],
    ['times stay strings', 'a: 2020-01-01\n', { a: '2020-01-01' }],
    ['keys become strings', '1: a\ntrue: b\n1.5: c\n', { 1: 'a', true: 'b', '1.5': 'c' }],
    ['tags', 'a: !!str 5\nb: !!int "3"\nc: !!float 2\n', { a: '5', b: 3, c: 2 }],
    ['blocks', 'a: |\n  x\n  y\nb: >\n  x\n  y\n', { a: 'x\ny\n', b: 'x y\n' }],
    ['anchors and merges', 'a: &x {p: 1, q: 2}\nb: *x\nc: {<<: *x, q: 3}\n', { a: { p: 1, q: 2 }, b: { p: 1, q: 2 }, c: { p: 1, q: 3 } }],
    ['the first document', 'a: 1\n---\nb: 2\n', { a: 1 }],
    ['nothing', '', null],
    ['a word', 'hello', 'hello'],
    ['own __proto__', '__proto__:\n  a: 1\n', JSON.parse('{"__proto__":{"a":1}}')],
  ])('%s', (_name, text, value) => {
    expect(parse(text)).toEqual(value);
  });

  test('duplicate keys', () => {
    const { duplicateError } = parseYaml(Buffer.from('spec:\n  a: 1\n  b:\n  - c: 1\n    c: 2\n  a: 2\n'));
    expect(duplicateError).toBe('yaml: unmarshal errors:\n  line 5: key "c" already set in map\n  line 6: key "a" already set in map');
  });

  test.each([
    ['{"a":"\\/"}', 'yaml: found unknown escape character'],
    ['{"a":"\\ud83d\\ude00"}', 'yaml: found invalid Unicode character escape code'],
    ['{"a":1,"a":"\x7f"}', 'yaml: control characters are not allowed'],
    ['a: 1\n  b: c\n', 'yaml: line 2: mapping values are not allowed in this context'],
    ['a: *x\n', "yaml: unknown anchor 'x' referenced"],
    ['a: .inf\n', 'json: unsupported value: +Inf'],
    ['a: !!int x\n', 'yaml: cannot decode !!str `x` as a !!int'],
    ['<<: 5\n', 'yaml: map merge requires map or sequence of maps as the value'],
    ['a: &x [*x]\n', "yaml: anchor 'x' value contains itself"],
  ])('rejects %j', (text, message) => {
    expect(() => parse(text)).toThrow(new YamlError(message));
  });

  test('rejects a key of more than 1,024 characters, also in JSON', () => {
    expect(() => parse(`{"${'k'.repeat(1_030)}":1}`)).toThrow(new YamlError("yaml: did not find expected ',' or '}'"));
  });

  test.each([
    ['a long key with quotation marks', `{"${'k\\" '.repeat(400)}":1}`],
    ['blanks that end beyond 1,024 characters', `{"a"${' '.repeat(1_030)}:1}`],
    ['a line break before the colon', '{"a"\n:1}', 'line 1: '],
  ])('rejects %s', (_, text, line = '') => {
    expect(() => parse(text)).toThrow(new YamlError(`yaml: ${line}did not find expected ',' or '}'`));
  });

  test('parses JSON like the same text in YAML', () => {
    const blank = fc.constantFrom('', ' ', '\n', '\t', ' '.repeat(1_020));
    const characters = fc.constantFrom(
      '\x85',
      '\u2029',
      '\\t',
      '\\b',
      '\\u0000',
      '\\u2028',
      '\\uffff',
      '\ud83d\ude00',
      '\uffff',
      'a',
      '\\"',
      '\\\\',
      '\\n',
      '\\/',
      '\\u00e9',
      '\\ud83d',
      'é',
      ':',
      '{',
      ' ',
      '#',
      "'",
      '\u2028',
      '\ufeff',
      '\x7f',
    );
    const text = fc
      .tuple(fc.array(characters, { maxLength: 6 }), fc.constantFrom(1, 1, 1, 300))
      .map(([parts, times]) => `"${parts.join('').repeat(times)}"`);
    const { json } = fc.letrec<{ json: string; object: string }>((tie) => ({
      json: fc.oneof({ maxDepth: 3 }, text, fc.constantFrom('1', '1.0', '1e400', 'true', 'null', '12345678901234567890'), tie('object')),
      object: fc
        .array(fc.tuple(blank, text, blank, blank, tie('json'), blank), { maxLength: 3 })
        .map((members) => `{${members.map(([a, key, b, c, value, d]) => `${a}${key}${b}:${c}${value}${d}`).join(',')}}`),
    }));
    const outcome = (bytes: string): unknown => {
      try {
        return parse(bytes);
      } catch (error) {
        return (error as Error).name;
      }
    };
    fc.assert(
      fc.property(json, (document) => {
        // A comment keeps the text from being parsed as JSON.
        expect(outcome(`{"a":${document}}`)).toEqual(outcome(`#\n{"a":${document}}`));
      }),
      { numRuns: 3_000 },
    );
  });

  test('limits the expansion of aliases', () => {
    const levels = Array.from({ length: 9 }, (_, i) => `l${i + 1}: &l${i + 1} [${Array(9).fill(`*l${i}`).join(',')}]`);
    expect(() => parse(`l0: &l0 [x,x,x,x,x,x,x,x,x]\n${levels.join('\n')}\n`)).toThrow(
      new YamlError('yaml: document contains excessive aliasing'),
    );
  });

  test.each([
    ['brackets', '['.repeat(20_000), 'yaml: exceeded max depth of 10000'],
    ['blocks', '- '.repeat(20_000), 'yaml: exceeded max depth of 10000'],
    ['keys', Array.from({ length: 20_000 }, (_, i) => `${' '.repeat(Math.min(i, 100))}{a: `).join(''), 'yaml: exceeded max depth of 10000'],
    ['brackets in blocks', `${'- '.repeat(5_001)}${'['.repeat(5_000)}${']'.repeat(5_000)}`, "invalid character '[' exceeded max depth"],
  ])('rejects %s that are nested too deeply', (_, text, message) => {
    expect(() => parse(text)).toThrow(message);
  });

  test('parses the maximum depth of JSON', () => {
    let value = parse(`${'- '.repeat(5_000)}${'['.repeat(5_000)}${']'.repeat(5_000)}`);
    let depth = 0;
    for (; Array.isArray(value); value = value[0]) depth += 1;
    expect(depth).toBe(10_000);
  });

  test('takes linear time', () => {
    const shapes = [
      'a: b\n',
      '- - - -\n',
      '? ',
      '{a: {b: 1}: 2}: 3, ',
      '[[[a]:]:]: ',
      "a: ''\n ",
      'a: "\n\n"\n',
      '#\n',
      '- *a\n',
      'a b\n ',
      '- |\n   x\n',
    ];
    for (const shape of shapes) {
      const body = Buffer.from(`- &a x\n`.repeat(Number(shape.includes('*'))) + shape.repeat(400_000 / shape.length));
      const began = threadMilliseconds();
      try {
        parseYaml(body);
      } catch (error) {
        expect(error).toBeInstanceOf(YamlError);
      }
      // Ten times the typical time, for slow machines; quadratic time would be minutes.
      expect(threadMilliseconds() - began, shape).toBeLessThan(2_000);
    }
  });
});

describe('encodeYaml', () => {
  test.each<[name: string, value: unknown, yaml: string]>([
    ['lists are not indented in maps', { a: [1, { b: 2, c: [] }], d: {} }, 'a:\n- 1\n- b: 2\n  c: []\nd: {}\n'],
    ['lists in lists', [[1, [2]], { a: [3] }], '- - 1\n  - - 2\n- a:\n  - 3\n'],
    [
      'ambiguous text is quoted',
      ['true', '1', '', '1:30', '2020-01-01', 'null', 'x'],
      '- "true"\n- "1"\n- ""\n- "1:30"\n- "2020-01-01"\n- "null"\n- x\n',
    ],
    [
      'text with special characters is quoted',
      ['a: b', '- x', ' lead', "it's", '#x', 'a\tb', '😀'],
      "- 'a: b'\n- '- x'\n- ' lead'\n- it's\n- '#x'\n- \"a\\tb\"\n- \"\\U0001F600\"\n",
    ],
    ['lines', { a: 'x\ny', b: 'x\n', c: 'x\n\n', d: '\nx' }, 'a: |-\n  x\n  y\nb: |\n  x\nc: |+\n  x\n\nd: |2-\n\n  x\n'],
    ['numbers', [1.5, 1e21, 1234567.5, 9007199254740993n, null], '- 1.5\n- 1e+21\n- 1.2345675e+06\n- 9007199254740993\n- null\n'],
    ['keys in natural order', { a10: 1, a2: 2, B: 3, 'a-x': 4 }, 'B: 3\na-x: 4\na2: 2\na10: 1\n'],
    ['long text is folded', { a: `${'word '.repeat(20)}end` }, `a: ${'word '.repeat(16).trim()}\n  ${'word '.repeat(4)}end\n`],
    [
      'long quoted text is folded',
      { a: `it's: ${'word '.repeat(20)} end`, b: `\t${'word '.repeat(18)} end` },
      `a: 'it''s: ${'word '.repeat(15).trim()}\n  ${'word '.repeat(5)} end'\nb: "\\t${'word '.repeat(16).trim()}\n  ${'word '.repeat(2)} end"\n`,
    ],
    ['long keys', { ['k'.repeat(129)]: [1] }, `? ${'k'.repeat(129)}\n: - 1\n`],
  ])('%s', (_name, value, yaml) => {
    expect(encodeYaml(value)).toBe(yaml);
    expect(parse(yaml)).toEqual(value);
  });

  test.each<[name: string, part: string]>([
    ['to quote', 'x y: "z" '],
    ['to escape', 'x y: "z" and a few other words\t'],
    ['without special characters', 'lorem ipsum '],
  ])('a long text %s takes time of lines, not of characters', (_name, part) => {
    // As parsed JSON has it: in one piece.
    const text = `${Buffer.alloc(12_000_000, part).toString()}.`;
    // 100 to 250 ms; character by character 1,000.
    expect(leastThreadTime(() => encodeYaml({ text }), 600)).toBeLessThan(600);
  });
});
