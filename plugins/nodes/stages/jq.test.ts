import fc from 'fast-check';
import { leastThreadTime } from '#apimachinery/testing/least-thread-time';
import { describe, expect, it } from 'vitest';
import { compileJq, JqSyntaxError } from './jq.ts';

const pod = {
  metadata: {
    name: 'web',
    labels: { 'example.com/a': 'b' },
    finalizers: ['x', 'y'],
    ownerReferences: [{ kind: 'Job' }, { kind: 'Other' }],
  },
  spec: { replicas: 3 },
  status: {
    phase: 'Pending',
    conditions: [
      { type: 'Ready', status: 'False' },
      { type: 'Initialized', status: 'True' },
    ],
  },
};

describe('a query', () => {
  it.each<[query: string, outputs: unknown[] | undefined]>([
    ['.', [pod]],
    ['.metadata.name', ['web']],
    ['.metadata.labels["example.com/a"]', ['b']],
    ['.metadata.missing.deeper', []],
    ['.status.conditions.[] | select( .type == "Ready" ) | .status', ['False']],
    ['.status.conditions[].type', ['Ready', 'Initialized']],
    ['.metadata.ownerReferences.[].kind', ['Job', 'Other']],
    ['.metadata.missing.[].kind', undefined],
    ['.metadata.missing[]?.kind', []],
    ['.metadata.name.first', undefined],
    ['.metadata.finalizers[0], .metadata.finalizers[-1]', ['x', 'y']],
    ['.metadata.missing // "default"', ['default']],
    ['.metadata.name // "default"', ['web']],
    ['.status.conditions | length', [2]],
    ['.status.conditions | map(.status == "True") | any', [true]],
    ['.spec.replicas >= 3 and (.status.phase == "Running" | not)', [true]],
    ['.metadata | has("name")', [true]],
    ['.metadata.name | startswith("w")', [true]],
    ['[1]', undefined],
    ['"a\\u0062"', ['ab']],
    ['.__proto__', []],
    ['.constructor', []],
  ])('%s', (query, outputs) => {
    if (query === '[1]') expect(() => compileJq(query)).toThrow(JqSyntaxError);
    else expect(compileJq(query)(pod)).toEqual(outputs);
  });

  it.each(['', '.a |', '.[', 'select(', '.a b', 'def f: 1; f', '.a = 1', 'env', '"open', '$x', '.a | test("x")'])(
    '%s is not supported',
    (query) => {
      expect(() => compileJq(query)).toThrow(JqSyntaxError);
    },
  );

  it('either runs any text or is refused', () => {
    const part = fc.constantFrom('.', '[', ']', '|', 'a', '"b"', 'select(', ')', '==', '1', '//', '?', ',', ' and ', 'length', '(');
    fc.assert(
      fc.property(fc.array(part, { maxLength: 20 }), (parts) => {
        try {
          compileJq(parts.join(''))(pod);
        } catch (error) {
          expect(error).toBeInstanceOf(JqSyntaxError);
        }
      }),
    );
  });

  const ten = '(.,.,.,.,.,.,.,.,.,.)';
  it.each([
    ['copies of a large text', `${ten} | ${ten} | ${ten} | ${ten} | tostring`],
    ['conditions of lists', '(.items[] and .items[]) and .items[]'],
    ['selections of lists', `.items[] | select(${Array.from({ length: 500 }, () => '1').join()})`],
    ['comparisons of large values', `.items[] | ${ten} == ${ten}`],
    ['lists in lists', '.all | contains(.)'],
  ])('%s end before they cost time', (_, query) => {
    const input = {
      items: Array.from({ length: 1_000 }, (__, i) => 'x'.repeat(100) + String(i)),
      all: Array.from({ length: 2_000 }, (__, i) => `${i}`),
    };
    const run = compileJq(query);
    let outputs: unknown[] | undefined;
    const runOnce = (): void => {
      try {
        outputs = run(input);
      } catch (error) {
        expect((error as Error).message).toBe('the script does too much');
      }
    };
    expect(leastThreadTime(runOnce, 100)).toBeLessThan(100);
    expect(outputs).toBeUndefined();
  });
});
