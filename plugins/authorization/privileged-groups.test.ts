import { expect, it } from 'vitest';
import { PrivilegedGroups } from './privileged-groups.ts';
import { attributes } from './test-attributes.ts';

it.each([
  [['devs', 'system:masters'], 'Allow'],
  [['devs'], 'NoOpinion'],
  [['system:masters:a'], 'NoOpinion'],
  [[], 'NoOpinion'],
])('groups %j: %s', (groups, decision) => {
  expect(new PrivilegedGroups().authorize(attributes({ user: { name: 'jane', groups } }))).toEqual({ decision, reason: '' });
});
