import { describe, expect, it } from 'vitest';
import { type Rule, uncoveredRules } from './rule-cover.ts';

const many = Array.from({ length: 1_000 }, (_, i) => `x${i}`);
const large: Rule = { verbs: many, apiGroups: many, resources: many };
const all: Rule = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] };

describe('uncoveredRules', () => {
  it.each<{ name: string; owned: Rule[]; wanted: Rule[]; uncovered: Rule[] }>([
    {
      name: 'finds what no single rule covers',
      owned: [
        { verbs: ['get'], apiGroups: [''], resources: ['pods'] },
        { verbs: ['list'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] },
      ],
      wanted: [{ verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] }],
      uncovered: [{ verbs: ['list'], apiGroups: [''], resources: ['pods'] }],
    },
    {
      name: 'covers a rule by several others',
      owned: [
        { verbs: ['get'], apiGroups: [''], resources: ['*'] },
        { verbs: ['*'], apiGroups: [''], resources: ['pods'], resourceNames: ['a', 'b'] },
      ],
      wanted: [{ verbs: ['get', 'watch'], apiGroups: [''], resources: ['pods'], resourceNames: ['a', 'c'] }],
      uncovered: [{ verbs: ['watch'], apiGroups: [''], resources: ['pods'], resourceNames: ['c'] }],
    },
    { name: 'covers a billion combinations as a whole', owned: [all], wanted: [large], uncovered: [] },
    {
      name: 'does not enumerate a billion combinations',
      owned: [{ ...all, resourceNames: ['a'] }],
      wanted: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }, large],
      uncovered: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }, large],
    },
    {
      name: 'covers URLs by prefix',
      owned: [{ verbs: ['get'], nonResourceURLs: ['/healthz*'] }],
      wanted: [{ verbs: ['get'], nonResourceURLs: ['/healthz/ping', '/metrics'] }],
      uncovered: [{ verbs: ['get'], nonResourceURLs: ['/metrics'] }],
    },
  ])('$name', ({ owned, wanted, uncovered }) => {
    expect(uncoveredRules(owned, wanted)).toEqual(uncovered);
  });
});
