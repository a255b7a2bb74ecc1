import type { Deployment, ReplicaSet } from 'kubenest/types/apps_v1';
import { describe, expect, it } from 'vitest';
import { isSameTemplate, maxRevision, newSetAnnotations, obsoleteSets, setName } from './replica-sets.ts';

const deployment = (annotations: Record<string, string> = {}, spec: Deployment['spec'] = {}): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'd', annotations },
  spec,
});
const set = (annotations: Record<string, string>, more: Partial<ReplicaSet> = {}): ReplicaSet => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { name: `r${annotations['deployment.kubernetes.io/revision'] ?? ''}`, annotations, generation: 1 },
  spec: { replicas: 0 },
  status: { observedGeneration: 1 },
  ...more,
});
const revision = 'deployment.kubernetes.io/revision';
const history = 'deployment.kubernetes.io/revision-history';

describe('newSetAnnotations', () => {
  it.each([
    {
      name: 'the annotations of the deployment',
      of: { a: 'b', [revision]: '7' },
      present: {},
      next: 1n,
      expected: { a: 'b', [revision]: '1' },
    },
    {
      name: 'a higher revision, and keeps the old one',
      of: {},
      present: { [revision]: '1' },
      next: 3n,
      expected: { [revision]: '3', [history]: '1' },
    },
    {
      name: 'longer history',
      of: {},
      present: { [revision]: '3', [history]: '1' },
      next: 5n,
      expected: { [revision]: '5', [history]: '1,3' },
    },
    {
      name: 'a revision beyond 2^53',
      of: {},
      present: {},
      next: maxRevision([set({ [revision]: '3546343826724305832' })]) + 1n,
      expected: { [revision]: '3546343826724305833' },
    },
    { name: 'no lower revision', of: {}, present: { [revision]: '5' }, next: 3n, expected: { [revision]: '5' } },
  ])('gives a set $name', ({ of, present, next, expected }) => {
    expect(newSetAnnotations(deployment(of), set(present), next)).toEqual(expected);
  });

  it('drops the first revisions of a long history', () => {
    const present = { [revision]: '500', [history]: Array.from({ length: 600 }, () => '100').join(',') };
    const annotations = newSetAnnotations(deployment(), set(present), 501n);
    expect(annotations[history]?.length).toBeLessThanOrEqual(2_000);
    expect(annotations[history]?.endsWith(',500')).toBe(true);
  });
});

it('keeps as many old sets as the history limit allows, and those with pods', () => {
  const old = ['3', '1', '4', '2'].map((number) => set({ [revision]: number }));
  const running = set({ [revision]: '0' }, { spec: { replicas: 1 } });
  const obsolete = obsoleteSets(deployment({}, { revisionHistoryLimit: 2 }), [...old, running]);
  expect(obsolete.map(({ metadata }) => metadata.name)).toEqual(['r1', 'r2']);
});

it('compares templates without the hash label and without empty fields', () => {
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c' }] } };
  const labelled = { metadata: { labels: { a: 'b', 'pod-template-hash': 'x' } }, spec: { containers: [{ name: 'c', env: [] }] } };
  expect(isSameTemplate(template, labelled)).toBe(true);
  expect(isSameTemplate(template, { ...template, spec: { containers: [{ name: 'd' }] } })).toBe(false);
});

it('cuts a long name of a deployment', () => {
  const long = { ...deployment(), metadata: { name: 'n'.repeat(253) } };
  expect(setName(long, '12345')).toBe(`${'n'.repeat(247)}-12345`);
});
