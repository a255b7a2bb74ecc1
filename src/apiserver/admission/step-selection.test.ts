import { expect, it } from 'vitest';
import type { KubeObject } from '#apimachinery/meta/types';
import type { Attributes } from './attributes.ts';
import { type StepScope, StepSelection } from './step-selection.ts';

/** Returns a scope that counts its decisions in `decided`, and includes what `mayInclude` does. */
function newScope(decided: string[], name: string, more: Partial<StepScope>): StepScope {
  const { mayInclude = () => true } = more;
  const counted: StepScope['mayInclude'] = (request, namespace) => {
    decided.push(`${name} for ${request.namespace} and ${request.user.name}`);
    return mayInclude(request, namespace);
  };
  const neutral = { dependsOnUser: false, dependsOnLabels: false, decidingNamespace: () => undefined, includesObjects: () => true };
  return { ...neutral, ...more, mayInclude: counted };
}

const request = (namespace: string, name = 'jane', groups: readonly string[] = []): Attributes =>
  ({ namespace, user: { name, groups } }) as unknown as Attributes;
const names = (steps: readonly { readonly name: string }[]): string[] => steps.map(({ name }) => name);

it('decides once for all requests of a namespace', () => {
  const decided: string[] = [];
  const inProd = newScope(decided, 'prod', { mayInclude: ({ namespace }) => namespace === 'prod' });
  const selection = new StepSelection([
    { name: 'all', scope: undefined },
    { name: 'prod', scope: inProd },
  ]);
  const selected = ['ci', 'prod', 'ci', 'prod'].map((namespace, i) => names(selection.for(request(namespace, `user-${i}`))));
  expect(selected).toEqual([['all'], ['all', 'prod'], ['all'], ['all', 'prod']]);
  expect(decided).toEqual(['prod for ci and user-0', 'prod for prod and user-1']);
});

it('decides for each user if one of the scopes depends on users', () => {
  const decided: string[] = [];
  const ofOps = newScope(decided, 'ops', { dependsOnUser: true, mayInclude: ({ user }) => user.groups.includes('ops') });
  const selection = new StepSelection([{ name: 'ops', scope: ofOps }]);
  // The names are chosen so that joined keys would be equal.
  const users: [string, string[]][] = [
    ['jane', ['ops']],
    ['jane', []],
    ['jane","ops', []],
    ['jane', ['ops']],
  ];
  expect(users.map(([name, groups]) => names(selection.for(request('ci', name, groups))))).toEqual([['ops'], [], [], ['ops']]);
  expect(decided).toHaveLength(3);
});

it('decides again when the stored namespace has changed', () => {
  const decided: string[] = [];
  let stored = { metadata: { name: 'ci', labels: { env: 'test' } } } as unknown as KubeObject;
  const inProd = newScope(decided, 'prod', {
    dependsOnLabels: true,
    decidingNamespace: () => stored,
    mayInclude: (_, namespace) => namespace?.metadata.labels?.['env'] === 'prod',
  });
  const selection = new StepSelection([
    { name: 'users', scope: newScope(decided, 'users', {}) },
    { name: 'prod', scope: inProd },
  ]);
  const select = (): string[] => names(selection.for(request('ci')));
  expect([select(), select()]).toEqual([['users'], ['users']]);
  stored = { metadata: { name: 'ci', labels: { env: 'prod' } } } as unknown as KubeObject;
  expect([select(), select()]).toEqual([
    ['users', 'prod'],
    ['users', 'prod'],
  ]);
  expect(decided).toHaveLength(4);
});

it('keeps a limited number of decisions, of keys of limited length', () => {
  const decided: string[] = [];
  const selection = new StepSelection([{ name: 'all', scope: newScope(decided, 'all', {}) }]);
  for (let i = 0; i < 1_001; i += 1) selection.for(request(`n-${i}`));
  selection.for(request('n-1000'));
  expect(decided).toHaveLength(1_001);
  selection.for(request('n-0'));
  expect(decided).toHaveLength(1_002);
  selection.for(request('n'.repeat(1_001)));
  selection.for(request('n'.repeat(1_001)));
  expect(decided).toHaveLength(1_004);
});

it('has all steps without a decision if none has a scope', () => {
  const steps = [{ name: 'all', scope: undefined }];
  expect(new StepSelection(steps).for(request('ci'))).toBe(steps);
});
