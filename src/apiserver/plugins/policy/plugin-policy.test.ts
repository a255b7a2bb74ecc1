import { expect, it } from 'vitest';
import type { Attributes } from '#apiserver/admission/attributes';
import type { KubeObject } from '#apimachinery/meta/types';
import { fakeInformers } from '#sdk/testing/fake-informers';
import { readPolicy } from './plugin-policy.ts';

const namespaces = fakeInformers({
  namespaces: [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'ci-1', labels: { env: 'test' } } }],
}).for({ group: '', resource: 'namespaces' });

function request(more: Partial<Attributes> = {}): Attributes {
  const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'ci-1', labels: { app: 'web' } } } as KubeObject;
  return {
    operation: 'CREATE',
    kind: { group: '', version: 'v1', kind: 'Pod' },
    resource: { group: '', version: 'v1', resource: 'pods' },
    subresource: '',
    namespace: 'ci-1',
    name: 'web',
    object,
    options: {},
    dryRun: false,
    user: { name: 'jane', groups: ['dev'] },
    ...more,
  } as Attributes;
}

const inScope: readonly [scope: object, more?: Partial<Attributes>][] = [
  [{}],
  [{ namespaces: ['prod', 'ci-*'] }],
  [{ excludedNamespaces: ['kube-*'] }],
  [{ namespaceSelector: { matchLabels: { env: 'test' } } }],
  [{ namespaceSelector: { matchLabels: { env: 'prod' } } }, { namespace: '' }],
  [{ objectSelector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['web'] }] } }],
  [{ users: ['jane'] }],
  [{ users: ['joe'], groups: ['dev'] }],
  [{ excludedUsers: ['system:*'] }],
];
/** Returns the decision in one step, and in the two steps of the chain of plugins: by namespace and user, and by the objects. */
function decisions(scope: object, more: Partial<Attributes> | undefined): unknown {
  const of = request(more);
  const { scope: compiled } = readPolicy({ scope }, 'p');
  const mayBe = compiled?.mayInclude(of, compiled.decidingNamespace(of, namespaces));
  return [compiled?.includes(of, namespaces), mayBe && compiled?.includesObjects(of)];
}

it.each(inScope)('scope %j includes the request', (scope, more) => {
  expect(decisions(scope, more)).toEqual([true, true]);
});

const budget = (): { remaining: number } => ({ remaining: 1_000_000 });

const outOfScope: readonly [scope: object, more?: Partial<Attributes>][] = [
  [{ namespaces: ['prod', 'ci.*'] }],
  [{ namespaces: ['*-1'], excludedNamespaces: ['ci-1'] }],
  [{ namespaces: ['ci-*'] }, { namespace: '' }],
  [{ namespaceSelector: { matchLabels: { env: 'prod' } } }],
  [{ objectSelector: { matchLabels: { app: 'db' } } }],
  [{ users: ['joe'] }],
  [{ users: ['jane'], excludedUsers: ['ja*'] }],
  [{ excludedGroups: ['dev'] }],
];
it.each(outOfScope)('scope %j does not include the request', (scope, more) => {
  expect(decisions(scope, more)).toEqual([false, false]);
});

it('the labels of the stored namespace do not decide about a write of the namespace', () => {
  const { scope } = readPolicy({ scope: { namespaceSelector: { matchLabels: { env: 'prod' } } } }, 'p');
  const of = request({ resource: { group: '', version: 'v1', resource: 'namespaces' }, operation: 'UPDATE' });
  expect(scope?.mayInclude(of, scope.decidingNamespace(of, namespaces))).toBe(true);
});

it.each<[exception: object, covers: boolean, more?: Partial<Attributes>]>([
  [{ namespaces: ['ci-*'] }, true],
  [{ namespaces: ['ci-*'], names: ['db'] }, false],
  [{ names: ['w*'], users: ['jane'] }, true],
  [{ groups: ['ops'] }, false],
  [{ objectSelector: { matchLabels: { app: 'web' } } }, true],
  [{ objectSelector: { matchLabels: { app: 'web' } } }, false, { object: undefined as never }],
  [{ expression: "object.metadata.labels['app'] == 'web' && request.userInfo.username == 'jane'" }, true],
  [{ expression: "request.operation == 'DELETE'" }, false],
  [{ names: ['web'], expression: 'false' }, false],
])('exception %j covers the request: %s', (exception, covers, more) => {
  expect(readPolicy({ exceptions: [{ reason: 'r', ...exception }] }, 'p').exceptions[0]?.covers(request(more), budget())).toBe(covers);
});

it('exceptions share a budget, and one that costs more than the rest of it does not cover the request', () => {
  const loops = 'object.metadata.name.size() > 0 && [1, 2, 3, 4, 5, 6, 7, 8].all(a, [1, 2, 3, 4, 5, 6, 7, 8].all(b, a != b || a == b))';
  const [exception] = readPolicy({ exceptions: [{ reason: 'r', expression: loops }] }, 'p').exceptions;
  const shared = budget();
  expect(exception?.covers(request(), shared)).toBe(true);
  expect(shared.remaining).toBeLessThan(1_000_000 - 64);
  const spent = { remaining: 10 };
  expect(exception?.covers(request(), spent)).toBeInstanceOf(Error);
  expect(spent.remaining).toBe(0);
});

it('an exception whose expression fails does not cover the request', () => {
  const [exception] = readPolicy({ exceptions: [{ reason: 'r', expression: 'object.spec.replicas > 1' }] }, 'p').exceptions;
  expect(exception?.covers(request(), budget())).toMatchObject({ message: expect.stringContaining('no such key: spec') });
});

it.each<[what: string, expires: unknown, time: number | undefined]>([
  ['a time', '2027-01-31T12:00:00+01:00', Date.UTC(2027, 0, 31, 11)],
  ['a date', '2027-01-31', Date.UTC(2027, 0, 31)],
  ['a time without quotes in YAML', new Date(Date.UTC(2027, 0, 31)), Date.UTC(2027, 0, 31)],
  ['nothing', undefined, undefined],
])('an exception expires at %s', (_, expires, time) => {
  const [exception] = readPolicy({ exceptions: [{ reason: 'r', names: ['a'], expires }] }, 'p').exceptions;
  expect(exception?.expires).toBe(time);
});

it.each<[what: string, policy: unknown, problem: string]>([
  ['a wrong mode', { mode: 'dryrun' }, 'p.mode: mode must be one of the following values: enforce, warn, audit'],
  ['an unknown member', { modes: 'warn' }, 'p.modes is unknown'],
  ['an unknown member of the scope', { scope: { namespace: 'a' } }, 'p.scope.namespace is unknown'],
  ['a list that selects nothing', { scope: { namespaces: [] } }, 'p.scope.namespaces: namespaces should not be empty'],
  ['a text instead of a list', { scope: { users: 'jane' } }, 'p.scope.users: users must be an array'],
  ['no reason', { exceptions: [{ names: ['a'] }] }, 'p.exceptions[0].reason: reason should not be empty'],
  ['no criterion', { exceptions: [{ reason: 'r' }] }, 'p.exceptions[0] must have at least one of namespaces, names'],
  [
    'a wrong time',
    { exceptions: [{ reason: 'r', names: ['a'], expires: 'tomorrow' }] },
    'p.exceptions[0].expires: must be an RFC 3339 time such as 2027-01-31T00:00:00Z',
  ],
  [
    'an expression that does not compile',
    { exceptions: [{ reason: 'r', expression: 'objekt.metadata' }] },
    "p.exceptions[0].expression: compilation failed: ERROR: <input>:1:1: undeclared reference to 'objekt'",
  ],
  [
    'an expression that is not a condition',
    { exceptions: [{ reason: 'r', expression: '1 + 1' }] },
    'p.exceptions[0].expression: must evaluate to bool',
  ],
  [
    'an invalid label',
    { scope: { objectSelector: { matchLabels: { a: '-' } } } },
    'p.scope.objectSelector.matchLabels: Invalid value: "-"',
  ],
  ['a number as label', { scope: { objectSelector: { matchLabels: { a: 1 } } } }, 'p.scope.objectSelector.matchLabels must be an object'],
  [
    'an unknown operator',
    { scope: { namespaceSelector: { matchExpressions: [{ key: 'a', operator: 'Is' }] } } },
    'p.scope.namespaceSelector.matchExpressions[0].operator: Invalid value: "Is"',
  ],
  ['an unknown member of a selector', { scope: { objectSelector: { labels: {} } } }, 'p.scope.objectSelector.labels is unknown'],
  ['no object', null, 'p must be an object'],
])('rejects %s', (_, policy, problem) => {
  expect(() => readPolicy(policy, 'p')).toThrow(problem);
});
