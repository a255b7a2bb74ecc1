import { describe, expect, it } from 'vitest';
import type { UserInfo } from '#apiserver/request/user-info';
import { noParameters } from '#apiserver/request/query';
import { parseRequestInfo } from '#apiserver/request/request-info';
import { allocateConcurrency } from './concurrency-allocation.ts';
import { DroppedRequests } from './dropped-requests.ts';
import { FlowController } from './flow-controller.ts';
import type { FlowSchema, PolicyRulesWithSubjects, PriorityLevelConfiguration } from './rule.ts';

const level = (name: string, nominalConcurrencyShares: number, more: object = {}): PriorityLevelConfiguration => ({
  apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
  kind: 'PriorityLevelConfiguration',
  metadata: { name, uid: `${name}-uid` },
  spec: {
    type: 'Limited',
    limited: {
      nominalConcurrencyShares,
      limitResponse: { type: 'Queue', queuing: { queues: 8, handSize: 2, queueLengthLimit: 5 } },
      ...more,
    },
  },
});
const schema = (name: string, matchingPrecedence: number, to: string, rule: PolicyRulesWithSubjects): FlowSchema => ({
  apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
  kind: 'FlowSchema',
  metadata: { name, uid: `${name}-uid` },
  spec: { matchingPrecedence, priorityLevelConfiguration: { name: to }, distinguisherMethod: { type: 'ByUser' }, rules: [rule] },
});
const everybody = [{ kind: 'Group', group: { name: '*' } }];
const everything = { verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] };
const jane: UserInfo = { name: 'jane', groups: ['devs'] };
const account: UserInfo = { name: 'system:serviceaccount:kube-system:x', groups: [] };

function controller(): FlowController {
  const control = new FlowController(100);
  control.configure(
    [
      schema('catch-all', 10_000, 'low', {
        subjects: everybody,
        resourceRules: [everything],
        nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
      }),
      schema('pods', 500, 'high', {
        subjects: everybody,
        resourceRules: [{ ...everything, resources: ['pods', 'pods/status'], namespaces: ['ns'] }],
      }),
      schema('accounts', 400, 'high', {
        subjects: [{ kind: 'ServiceAccount', serviceAccount: { namespace: 'kube-system', name: '*' } }],
        resourceRules: [everything],
      }),
      schema('probes', 300, 'high', {
        subjects: everybody,
        nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/healthz', '/livez/*'] }],
      }),
      schema('dangling', 2, 'gone', { subjects: everybody, resourceRules: [everything] }),
    ],
    [level('low', 25), level('high', 75, { lendablePercent: 50 })],
  );
  return control;
}

describe('FlowController', () => {
  it.each([
    { name: 'a resource in its namespace', user: jane, request: 'GET /api/v1/namespaces/ns/pods/p', want: 'pods' },
    { name: 'a subresource', user: jane, request: 'PUT /api/v1/namespaces/ns/pods/p/status', want: 'pods' },
    { name: 'another subresource', user: jane, request: 'GET /api/v1/namespaces/ns/pods/p/log', want: 'catch-all' },
    { name: 'another namespace', user: jane, request: 'GET /api/v1/namespaces/other/pods/p', want: 'catch-all' },
    { name: 'all namespaces without clusterScope', user: jane, request: 'GET /api/v1/pods', want: 'pods' },
    { name: 'a service account', user: account, request: 'GET /api/v1/namespaces/ns/pods/p', want: 'accounts' },
    { name: 'a path', user: jane, request: 'GET /healthz', want: 'probes' },
    { name: 'a subpath', user: jane, request: 'GET /livez/ping', want: 'probes' },
    { name: 'another path', user: jane, request: 'GET /metrics', want: 'catch-all' },
  ])('matches the schema of $name', ({ user, request, want }) => {
    const [method = '', path = ''] = request.split(' ');
    expect(controller().classify(user, parseRequestInfo(method, path, noParameters))?.flowSchema).toBe(want);
  });

  it('allocates seats by shares and lends idle ones', () => {
    const control = controller();
    const { low, high } = Object.fromEntries(control.levels);
    expect([low?.nominal, low?.min, high?.nominal, high?.min]).toEqual([25, 25, 75, 37]);
    expect((low?.current ?? 0) + (high?.current ?? 0)).toBe(100);
    expect(high?.current).toBeGreaterThanOrEqual(37);
  });

  it('keeps the queues of a level whose shares change', () => {
    const control = controller();
    const before = control.levels.get('low')?.queues;
    control.configure(control.schemas, [level('low', 50), level('high', 50)]);
    expect(control.levels.get('low')?.queues).toBe(before);
    expect(control.levels.get('low')?.nominal).toBe(50);
  });
});

describe('allocateConcurrency', () => {
  const item = (target: number, lowerBound: number, upperBound: number) => ({ target, lowerBound, upperBound });
  it.each([
    { name: 'in proportion to targets', sum: 30, items: [item(10, 0, 100), item(20, 0, 100)], want: [10, 20] },
    { name: 'no less than a lower bound', sum: 30, items: [item(25, 25, 100), item(20, 0, 100)], want: [25, 5] },
    { name: 'no more than an upper bound', sum: 30, items: [item(10, 0, 5), item(10, 0, 100)], want: [5, 25] },
    { name: 'all lower bounds', sum: 10, items: [item(9, 5, 9), item(9, 5, 9)], want: [5, 5] },
  ])('allocates $name', ({ sum, items, want }) => {
    const { seats } = allocateConcurrency(sum, items);
    expect(seats.map((one) => Math.round(one * 1000) / 1000)).toEqual(want);
  });

  it('throws if the bounds are unsatisfiable', () => {
    expect(() => allocateConcurrency(10, [item(20, 20, 30)])).toThrow(/lower bounds sum to 20/);
    expect(() => allocateConcurrency(10, [item(1, 0, 5)])).toThrow(/upper bounds sum to 5/);
  });
});

it('raises Retry-After while many requests are rejected, and lowers it again', () => {
  const dropped = new DroppedRequests();
  const second = (at: number, count: number): void => {
    for (let i = 0; i < count; i += 1) dropped.record(at);
  };
  second(100, 10);
  second(101, 10);
  expect(dropped.retryAfter).toBe(2);
  second(103, 10);
  second(104, 1);
  expect(dropped.retryAfter).toBeGreaterThanOrEqual(2);
  second(200, 1);
  second(300, 1);
  expect(dropped.retryAfter).toBeLessThan(4);
});
