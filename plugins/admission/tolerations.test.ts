import fc from 'fast-check';
import { semanticDeepEqual } from '#sdk/internal';
import { describe, expect, it } from 'vitest';
import type { Toleration } from '../common/pod-walker.ts';
import { PodTolerationRestriction, PodTolerationRestrictionConfiguration } from './pod-toleration-restriction.ts';
import { areTolerationsAllowed, mergeTolerations, tolerationProblems } from './tolerations.ts';

describe('tolerationProblems', () => {
  it.each<[string, Toleration, readonly (string | RegExp)[]]>([
    ['all fields', { operator: 'Exists' }, []],
    ['a key only', { key: 'example.com/gpu', value: 'a', effect: 'NoExecute', tolerationSeconds: 3 }, []],
    ['a comparison', { key: 'a', operator: 'Gt', value: '3' }, []],
    ['no key without Exists', {}, [/^\.operator: operator must be Exists when `key` is empty/]],
    ['an invalid key', { key: '-a' }, [/^\.key: name part must consist of/]],
    ['an invalid value', { key: 'a', value: '-b' }, [/^\.operator: a valid label must be/]],
    ['a value with Exists', { key: 'a', operator: 'Exists', value: 'b' }, [".operator: value must be empty when `operator` is 'Exists'"]],
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

it('PodTolerationRestriction reports all invalid tolerations of a configuration', () => {
  const configuration = Object.assign(new PodTolerationRestrictionConfiguration(), {
    default: [{ key: 'a', tolerationSeconds: 3 }],
    whitelist: [{ operator: 'Exists' }, {}],
  });
  const informers = { for: () => undefined };
  expect(() => new PodTolerationRestriction(informers as never, configuration)).toThrow(
    /^default\[0\]\.effect: .*\nwhitelist\[1\]\.operator: .*$/,
  );
});

/** True if a toleration covers another, by upstream's pairwise comparison. */
function covers(wide: Toleration, narrow: Toleration): boolean {
  if (semanticDeepEqual(wide, narrow)) return true;
  if (narrow.key !== wide.key && (wide.key || wide.operator !== 'Exists')) return false;
  if (narrow.effect !== wide.effect && wide.effect) return false;
  if (wide.effect === 'NoExecute' && wide.tolerationSeconds !== undefined) {
    if (narrow.tolerationSeconds === undefined || narrow.tolerationSeconds > wide.tolerationSeconds) return false;
  }
  if (wide.operator === 'Exists') return true;
  return (wide.operator === 'Equal' || !wide.operator) && narrow.operator === 'Equal' && narrow.value === wide.value;
}

function mergedByPairs(all: readonly Toleration[]): Toleration[] {
  const merged: Toleration[] = [];
  for (const [at, toleration] of all.entries()) {
    if (merged.some((kept) => covers(kept, toleration))) continue;
    if (all.slice(at + 1).some((later) => !semanticDeepEqual(toleration, later) && covers(later, toleration))) continue;
    merged.push(toleration);
  }
  return merged;
}

const tolerations = fc.array(
  fc
    .record(
      {
        key: fc.constantFrom('a', 'b'),
        operator: fc.constantFrom('Exists', 'Equal', 'Gt'),
        value: fc.constantFrom('x', 'y'),
        effect: fc.constantFrom('NoExecute', 'NoSchedule'),
        tolerationSeconds: fc.integer({ min: -1, max: 3 }),
      },
      { requiredKeys: [] },
    )
    .filter((toleration) => tolerationProblems(toleration).length === 0),
  { maxLength: 6 },
);

it('merging and checking equal the pairwise comparison', () => {
  fc.assert(
    fc.property(tolerations, tolerations, (first, second) => {
      expect(mergeTolerations(first, second)).toEqual(mergedByPairs([...first, ...second]));
      const isAllowed = second.length === 0 || first.every((one) => second.some((allowed) => covers(allowed, one)));
      expect(areTolerationsAllowed(first, second)).toBe(isAllowed);
    }),
    { numRuns: 2_000 },
  );
});

it('merges forty thousand tolerations in linear time', () => {
  const many = Array.from({ length: 40_000 }, (_, i) => ({ key: 'a', value: `v${i}`, effect: 'NoExecute', tolerationSeconds: i }));
  expect(mergeTolerations(many, many)).toEqual(many);
});
