import { expect, it } from 'vitest';
import { newForbidden } from '#apimachinery/api/errors';
import type { KubeObject } from '#apimachinery/meta/types';
import { AdmissionChain } from '#apiserver/admission/admission-chain';
import { AdmissionPlugin } from '#apiserver/admission/admission-plugin';
import type { AdmissionHandler, Attributes } from '#apiserver/admission/attributes';
import type { ObjectForms } from '#apiserver/admission/object-forms';
import type { Operation } from '#apiserver/request/admission-context';
import { ObjectScan } from './object-scan.ts';
import { needsReport, policyReport, reportResource } from './policy-report.ts';
import { PolicyReports } from './policy-reports.ts';
import type { PluginVerdict } from './object-scan.ts';

const target = {
  kind: { group: '', version: 'v1', kind: 'Pod' },
  resource: { group: '', version: 'v1', resource: 'pods' },
  subresource: '',
  forms: {} as ObjectForms,
};
const pod: KubeObject = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'shop', uid: 'u1' } };
const user = { name: 'ali', groups: [] };

/** Returns a plugin of pods that calls a function. */
function plugin(name: string, operations: readonly Operation[], validate: (request: Attributes) => void): AdmissionHandler {
  @AdmissionPlugin({ name, match: [{ groups: [''], resources: ['pods'], operations }] })
  class Plugin {
    validate(request: Attributes): void {
      validate(request);
    }
  }
  return new Plugin();
}

const deny = (request: Attributes): never => {
  throw newForbidden(request.resource, request.name, 'no');
};

it.each<{ name: string; plugins: AdmissionHandler[]; want: readonly Partial<PluginVerdict>[] }>([
  { name: 'a plugin that admits', plugins: [plugin('A', ['CREATE'], () => {})], want: [{ plugin: 'A', policy: 'A', result: 'pass' }] },
  {
    name: 'every plugin, also after a denial',
    plugins: [plugin('A', ['CREATE'], deny), plugin('B', ['CREATE'], deny)],
    want: [
      { policy: 'A', result: 'fail', message: 'pods "web" is forbidden: no' },
      { policy: 'B', result: 'fail' },
    ],
  },
  {
    name: 'a plugin that fails',
    plugins: [
      plugin('A', ['CREATE'], () => {
        throw new Error('broken');
      }),
    ],
    want: [{ policy: 'A', result: 'error', message: 'broken' }],
  },
  {
    name: 'a plugin that warns',
    plugins: [plugin('A', ['CREATE'], (request) => request.addWarning('careful'))],
    want: [{ policy: 'A', result: 'warn', message: 'careful' }],
  },
  {
    name: 'a plugin that records its own verdicts',
    plugins: [plugin('A', ['CREATE'], ({ verdicts }) => verdicts?.record({ policy: 'p', rule: 'r', result: 'skip', message: 'exempt' }))],
    want: [{ plugin: 'A', policy: 'p', rule: 'r', result: 'skip', message: 'exempt' }],
  },
  {
    name: 'a plugin without a policy for the object',
    plugins: [plugin('A', ['CREATE'], ({ verdicts }) => verdicts?.recordNone())],
    want: [],
  },
  {
    name: 'a plugin of updates, as an update of the object to itself',
    plugins: [plugin('A', ['UPDATE'], (request) => request.oldObject === request.object && deny(request))],
    want: [{ policy: 'A', result: 'fail' }],
  },
  {
    name: 'a plugin of both once, as a create',
    plugins: [plugin('A', ['CREATE', 'UPDATE'], (request) => request.oldObject && deny(request))],
    want: [{ policy: 'A', result: 'pass' }],
  },
  { name: 'no plugin of deletions', plugins: [plugin('A', ['DELETE'], deny)], want: [] },
  { name: 'no plugin that judges requests', plugins: [plugin('ResourceQuota', ['CREATE'], deny)], want: [] },
])('evaluates $name', async ({ plugins, want }) => {
  const verdicts = await new ObjectScan(new AdmissionChain(plugins), user).verdictsOn(target, pod);
  expect(verdicts).toHaveLength(want.length);
  expect(verdicts).toMatchObject(want);
});

it('passes the assumed user, the namespace and a dry run', async () => {
  let seen: Partial<Attributes> = {};
  const look = plugin('A', ['CREATE'], ({ user: who, namespace, name, dryRun, operation }) => {
    seen = { user: who, namespace, name, dryRun, operation };
  });
  await new ObjectScan(new AdmissionChain([look]), user).verdictsOn(target, pod);
  expect(seen).toEqual({ user, namespace: 'shop', name: 'web', dryRun: true, operation: 'CREATE' });
});

const denied: PluginVerdict = { plugin: 'P', policy: 'p', rule: 'r', result: 'fail', message: 'no' };
const passed: PluginVerdict = { plugin: 'P', policy: 'q', result: 'pass' };

it.each([
  { group: 'openreports.io', apiVersion: 'openreports.io/v1alpha1', kind: 'Report', resource: 'reports', source: 'kubenest' },
  { group: 'wgpolicyk8s.io', apiVersion: 'wgpolicyk8s.io/v1alpha2', kind: 'PolicyReport', resource: 'policyreports', source: undefined },
] as const)('writes reports of $group', ({ group, apiVersion, kind, resource, source }) => {
  const report = policyReport(group, pod, [denied, passed], new Date(5_000));
  expect(report).toEqual({
    apiVersion,
    kind,
    metadata: {
      name: 'u1',
      namespace: 'shop',
      labels: { 'app.kubernetes.io/managed-by': 'kubenest' },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'web', uid: 'u1' }],
    },
    ...(source && { source }),
    scope: { apiVersion: 'v1', kind: 'Pod', name: 'web', namespace: 'shop', uid: 'u1' },
    results: [
      {
        policy: 'p',
        rule: 'r',
        result: 'fail',
        message: 'no',
        source: 'kubenest',
        scored: true,
        timestamp: { seconds: 5, nanos: 0 },
        properties: { plugin: 'P' },
      },
      { policy: 'q', result: 'pass', source: 'kubenest', scored: true, timestamp: { seconds: 5, nanos: 0 }, properties: { plugin: 'P' } },
    ],
    summary: { pass: 1, fail: 1, warn: 0, error: 0, skip: 0 },
  });
  expect(reportResource(group, 'shop').resource).toBe(resource);
  expect(needsReport([denied, passed])).toBe(true);
  expect(needsReport([passed])).toBe(false);
});

/** Reports in memory. Writes in namespace `ending` fail. */
class MemoryReports {
  readonly stored = new Map<string, KubeObject>();
  writes = 0;

  list({ resource }: { readonly resource: string }): Promise<KubeObject[]> {
    return Promise.resolve(resource === 'reports' ? [...this.stored.values()] : []);
  }

  apply(_target: object, object: KubeObject): Promise<void> {
    if (object.metadata.namespace === 'ending') return Promise.reject(new Error('the namespace is being terminated'));
    this.writes += 1;
    this.stored.set(object.metadata.name ?? '', object);
    return Promise.resolve();
  }

  remove(_target: object, _namespace: string, name: string): Promise<void> {
    this.stored.delete(name);
    return Promise.resolve();
  }
}

it('writes reports of violations, leaves unchanged ones alone, removes others, and continues after a failure', async () => {
  const memory = new MemoryReports();
  const reports = new PolicyReports('openreports.io', memory, () => new Date());
  const named = (uid: string, namespace = 'shop'): KubeObject => ({ ...pod, metadata: { name: uid, namespace, uid } });
  await reports.begin();
  await reports.update(named('u0', 'ending'), [denied]);
  await reports.update(named('u1'), [denied, passed]);
  await reports.update(named('u2'), [passed]);
  await reports.update(named('u3'), [denied]);
  expect([...memory.stored.keys()]).toEqual(['u1', 'u3']);
  expect(reports.failures).toMatchObject([{ namespace: 'ending', name: 'u0', error: new Error('the namespace is being terminated') }]);

  const again = new PolicyReports('openreports.io', memory, () => new Date(0));
  await again.begin();
  await again.update(named('u1'), [denied, passed]);
  await again.update(named('u3'), [denied, passed]);
  expect(memory.writes).toBe(3);
  await again.update(named('u3'), [passed]);
  expect([...memory.stored.keys()]).toEqual(['u1']);

  await again.begin();
  await again.removeStale();
  expect(memory.stored.size).toBe(0);
});
