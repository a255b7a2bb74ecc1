import { describe, expect, test } from 'vitest';
import { LabelSelector, labelSelectorAsSelector, LabelSelectorError, parseSelector, selectorFromSet } from './selector.ts';
import { threadMilliseconds } from '#apimachinery/testing/thread-time';

describe('parseSelector', () => {
  test.each([
    ['', ''],
    ['a', 'a'],
    ['!a', '!a'],
    ['b=1,a', 'a,b=1'],
    ['a == b', 'a==b'],
    ['a!=b', 'a!=b'],
    ['a=', 'a='],
    ['a in (b, a,)', 'a in (,a,b)'],
    ['a notin ()', 'a notin ()'],
    ['a>1,b<2', 'a>1,b<2'],
    ['x.io/y in (in)', 'x.io/y in (in)'],
    ['in=notin', 'in=notin'],
  ])('%j', (text, printed) => {
    expect(parseSelector(text).toString()).toBe(printed);
  });

  test.each([
    ['=a', "found '=', expected: !, identifier, or 'end of string'"],
    ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ['a=b c', "found 'c', expected: ',' or 'end of string'"],
    ['a,', "found '', expected: identifier after ','"],
    ['a===b', "unable to parse requirement: found '=', expected: identifier"],
    ['a in b', "unable to parse requirement: found 'b' expected: '('"],
    ['a in (b', "unable to parse requirement: found '', expected: ',' or ')'"],
    ['a in (=)', "unable to parse requirement: found '=', expected: ',', ')' or identifier"],
    ['!=a', "found '!=', expected: !, identifier, or 'end of string'"],
    ['a>x', "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer"],
    [
      '-=a',
      "unable to parse requirement: <nil>: Invalid value: \"-\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    ],
    [
      'n=-1',
      "unable to parse requirement: values[0][n]: Invalid value: \"-1\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
    ],
  ])('rejects %j', (text, message) => {
    expect(() => parseSelector(text)).toThrow(new LabelSelectorError(message));
  });
});

test.each<[selector: string, labels: Record<string, string> | undefined, matches: boolean]>([
  ['', undefined, true],
  ['a', { a: '' }, true],
  ['a', {}, false],
  ['constructor', {}, false],
  ['!a', undefined, true],
  ['a=1', { a: '1' }, true],
  ['a=1', { a: '2' }, false],
  ['a!=1', {}, true],
  ['a!=1', { a: '1' }, false],
  ['a in (1,2)', { a: '2' }, true],
  ['a in (1,2)', {}, false],
  ['a notin (1,2)', {}, true],
  ['a notin (1,2)', { a: '1' }, false],
  ['a>1', { a: '2' }, true],
  ['a>1', { a: 'x' }, false],
  ['a<1', { a: '0' }, true],
  ['a=1,b=2', { a: '1', b: '3' }, false],
])('%s of %j: %s', (selector, labels, matches) => {
  expect(parseSelector(selector).matches(labels)).toBe(matches);
});

describe('labelSelectorAsSelector', () => {
  test('an absent selector matches nothing, an empty one everything', () => {
    expect([labelSelectorAsSelector(undefined).matches({}), labelSelectorAsSelector(undefined).isEmpty()]).toEqual([false, false]);
    expect([labelSelectorAsSelector({}).matches({}), labelSelectorAsSelector({}).isEmpty()]).toEqual([true, true]);
  });

  test('requires all parts', () => {
    const selector = labelSelectorAsSelector({
      matchLabels: { b: '1' },
      matchExpressions: [{ key: 'a', operator: 'NotIn', values: ['y', 'x'] }],
    });
    expect(selector.toString()).toBe('a notin (x,y),b=1');
  });

  test('rejects other operators', () => {
    expect(() => labelSelectorAsSelector({ matchExpressions: [{ key: 'a', operator: 'toString' }] })).toThrow(
      new LabelSelectorError('"toString" is not a valid label selector operator'),
    );
  });
});

test('requiresExactMatch', () => {
  const selector = parseSelector('a=1,b in (2),c in (3,4),d!=5');
  expect(['a', 'b', 'c', 'd', 'e'].map((key) => selector.requiresExactMatch(key))).toEqual(['1', '2', undefined, undefined, undefined]);
  expect(selectorFromSet({ x: 'y' }).requiresExactMatch('x')).toBe('y');
});

test.each([1, 10, 100])('a requirement with 1,000 values matches the same the first and the %ith time', (times) => {
  const values = Array.from({ length: 1_000 }, (_, i) => `v${i}`);
  const selector = labelSelectorAsSelector({ matchExpressions: [{ key: 'a', operator: 'In', values }] });
  for (let i = 0; i < times; i += 1) expect([selector.matches({ a: 'v999' }), selector.matches({ a: 'x' })]).toEqual([true, false]);
});

describe('a selector with many requirements', () => {
  const parts = [
    'a=1',
    'a==2',
    'a!=1',
    'a!=3',
    'a in (1,2)',
    'a in (2,3)',
    'a notin (2,3)',
    'a',
    '!a',
    'a>1',
    'a>0',
    'a<3',
    'b=x',
    'b!=x',
    '!b',
    'b',
  ];
  const labels = [undefined, {}, ...['1', '2', '3', 'x'].flatMap((value) => [{ a: value }, { b: value }, { a: value, b: 'x', c: 'y' }])];

  test('matches the same as its requirements', () => {
    let state = 7;
    const below = (limit: number): number => {
      state = (state * 1_103_515_245 + 12_345) & 0x7fffffff;
      return Math.floor((state / 0x80000000) * limit);
    };
    let matched = 0;
    for (let run = 0; run < 3_000; run++) {
      const chosen = Array.from({ length: 1 + below(3) }, () => parts[below(parts.length)]!);
      // The same requirements repeated, so that there are many.
      const { requirements } = parseSelector(
        Array.from({ length: 12 }, () => chosen)
          .flat()
          .join(),
      );
      for (const one of labels) {
        const expected = requirements.every((requirement) => requirement.matches(one));
        expect(new LabelSelector(requirements).matches(one), `${chosen.join()} of ${JSON.stringify(one)}`).toBe(expected);
        if (expected) matched += 1;
      }
    }
    expect(matched).toBeGreaterThan(1_000);
  });

  test('matches as fast as a selector with few requirements', () => {
    const selector = parseSelector(Array.from({ length: 20_000 }, (_, i) => `x${i}!=1`).join());
    const many = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`l${i}`, 'v']));
    expect(selector.matches(many)).toBe(true);
    const began = threadMilliseconds();
    for (let i = 0; i < 10_000; i++) selector.matches(many);
    // Checking each requirement would take ten seconds.
    expect(threadMilliseconds() - began).toBeLessThan(1_000);
  });
});
