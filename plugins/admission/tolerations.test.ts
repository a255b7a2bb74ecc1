import { describe, expect, it } from 'vitest';
import type { Toleration } from './pod-walker.ts';
import { PodTolerationRestriction, PodTolerationRestrictionConfiguration } from './pod-toleration-restriction.ts';
import { tolerationProblems } from './tolerations.ts';

describe('tolerationProblems', () => {
  it.each<[string, Toleration, readonly (string | RegExp)[]]>([
    ['one of everything', { operator: 'Exists' }, []],
    ['one of a key', { key: 'example.com/gpu', value: 'a', effect: 'NoExecute', tolerationSeconds: 3 }, []],
    ['a comparison', { key: 'a', operator: 'Gt', value: '3' }, []],
    ['no key, and no Exists', {}, [/^\.operator: operator must be Exists when `key` is empty/]],
    ['a key that is none', { key: '-a' }, [/^\.key: name part must consist of/]],
    ['a value that is none', { key: 'a', value: '-b' }, [/^\.operator: a valid label must be/]],
    ['a value of Exists', { key: 'a', operator: 'Exists', value: 'b' }, [".operator: value must be empty when `operator` is 'Exists'"]],
    [
      'seconds without NoExecute',
      { key: 'a', tolerationSeconds: 3 },
      [".effect: effect must be 'NoExecute' when `tolerationSeconds` is set"],
    ],
  ])('%s', (_, toleration, want) => {
    const problems = tolerationProblems(toleration);
    expect(problems.length).toBe(want.length);
    for (const [i, one] of want.entries()) expect(problems[i]).toMatch(one);
  });
});

it('PodTolerationRestriction refuses a configuration whose tolerations do not go together, all at once', () => {
  const configuration = Object.assign(new PodTolerationRestrictionConfiguration(), {
    default: [{ key: 'a', tolerationSeconds: 3 }],
    whitelist: [{ operator: 'Exists' }, {}],
  });
  const informers = { for: () => undefined };
  expect(() => new PodTolerationRestriction(informers as never, configuration)).toThrow(
    /^default\[0\]\.effect: .*\nwhitelist\[1\]\.operator: .*$/,
  );
});
