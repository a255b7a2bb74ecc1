import type { KubeObject } from 'kubenest/sdk';
import { reconcileTable } from 'kubenest/sdk/testing';
import { startTestCluster } from 'kubenest/testing';
import type { Pod } from 'kubenest/types/core_v1';
import type { ResourceClaim } from 'kubenest/types/resource_v1';
import { expect, it, vi } from 'vitest';
import { Workloads } from '../common/testing/workload-cluster.ts';
import { partialObject } from '../common/testing/partial-object.ts';
import { claimNamePrefix, podNeedsWork } from './pod-claims.ts';
import { ResourceClaimController } from './resourceclaim-controller.ts';

const resource = 'resourceclaims.resource.k8s.io';
const finalizers = ['resource.kubernetes.io/delete-protection'];
const entry = { name: 'gpu', resourceClaimTemplateName: 't' };
const recorded = { resourceClaimStatuses: [{ name: 'gpu', resourceClaimName: 'c' }] };
const pod = (members: { metadata?: object; spec?: object; status?: object } = {}): KubeObject =>
  partialObject({
    metadata: { name: 'p', namespace: 'ns', uid: 'p', ...members.metadata },
    spec: { resourceClaims: [entry], ...members.spec },
    status: { ...members.status },
  });
const template = partialObject({
  metadata: { name: 't', namespace: 'ns' },
  spec: { metadata: { labels: { a: 'b' } }, spec: { devices: { requests: [] } } },
});
const ownerReferences = [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'p', controller: true }];
const claim = (status: object = {}, metadata: object = { ownerReferences }): KubeObject =>
  partialObject({
    metadata: { name: 'c', namespace: 'ns', annotations: { 'resource.kubernetes.io/pod-claim-name': 'gpu' }, ...metadata },
    status,
  });
const objectsOf = (pods: KubeObject[], claims: KubeObject[], templates = [template]): Record<string, KubeObject[]> => ({
  pods,
  [resource]: claims,
  'resourceclaimtemplates.resource.k8s.io': templates,
});
const reservedFor = [{ resource: 'pods', name: 'p', uid: 'p' }];
const allocation = { devices: {} };
const statusWrite = 'update resourceclaims.resource.k8s.io/status ns/c';
const write = 'update resourceclaims.resource.k8s.io ns/c';
const deletion = 'delete resourceclaims.resource.k8s.io ns/c';
const done = pod({ status: { phase: 'Succeeded', ...recorded } });
const missing = 'PodResourceClaim gpu: resource claim template "t": resourceclaimtemplate.resource.k8s.io "t" not found';

reconcileTable(ResourceClaimController, [
  {
    name: 'generates the claim of a template and records it',
    objects: objectsOf([pod()], []),
    request: 'ns/pod/p',
    writes: ['create resourceclaims.resource.k8s.io ns/p-gpu-3', 'apply pods/status ns/p'],
    want: {
      [resource]: {
        'ns/p-gpu-3': {
          metadata: { labels: { a: 'b' }, annotations: { 'resource.kubernetes.io/pod-claim-name': 'gpu' }, ownerReferences },
          spec: { devices: { requests: [] } },
        },
      },
      pods: { 'ns/p': { status: { resourceClaimStatuses: [{ name: 'gpu', resourceClaimName: 'p-gpu-3' }] } } },
    },
  },
  {
    name: 'records a claim that it generated earlier',
    objects: objectsOf([pod()], [claim()]),
    request: 'ns/pod/p',
    writes: ['apply pods/status ns/p'],
    want: { pods: { 'ns/p': { status: recorded } } },
  },
  { name: 'generates a claim once', objects: objectsOf([pod({ status: recorded })], [claim()]), request: 'ns/pod/p' },
  {
    name: 'generates a claim again that was deleted, and keeps the others recorded',
    objects: objectsOf(
      [
        pod({
          spec: { resourceClaims: [{ name: 'other', resourceClaimName: 'o' }, entry] },
          status: { resourceClaimStatuses: [{ name: 'net', resourceClaimName: 'n' }, ...recorded.resourceClaimStatuses] },
        }),
      ],
      [],
    ),
    request: 'ns/pod/p',
    writes: ['create resourceclaims.resource.k8s.io ns/p-gpu-3', 'apply pods/status ns/p'],
    want: {
      pods: {
        'ns/p': {
          status: {
            resourceClaimStatuses: [
              { name: 'net', resourceClaimName: 'n' },
              { name: 'gpu', resourceClaimName: 'p-gpu-3' },
            ],
          },
        },
      },
    },
  },
  {
    name: 'reports a missing template',
    objects: objectsOf([pod()], [], []),
    request: 'ns/pod/p',
    events: [{ type: 'Warning', reason: 'FailedResourceClaimCreation', message: missing }],
    fails: /pod ns\/p, PodResourceClaim gpu: .* not found/,
  },
  {
    name: 'reserves the allocated claim of a pod that has a node',
    objects: objectsOf([pod({ spec: { nodeName: 'n' }, status: recorded })], [claim({ allocation })]),
    request: 'ns/pod/p',
    writes: [statusWrite],
    want: { [resource]: { 'ns/c': { status: { allocation, reservedFor } } } },
  },
  {
    name: 'leaves a pod that is being deleted alone',
    objects: objectsOf([pod({ metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } })], []),
    request: 'ns/pod/p',
  },
  {
    name: 'keeps the reservation of a pod that runs',
    objects: objectsOf([pod({ status: recorded })], [claim({ allocation, reservedFor })]),
    request: 'ns/c',
  },
  {
    name: 'releases and deletes the claim that was generated for a pod that is done',
    objects: objectsOf([done], [claim({ allocation, reservedFor }, { ownerReferences, finalizers })]),
    request: 'ns/c',
    writes: [statusWrite, write, deletion],
    want: { [resource]: { 'ns/c': undefined } },
  },
  {
    name: 'releases a shared claim after its last pod and keeps it',
    objects: objectsOf([], [claim({ allocation, reservedFor }, { finalizers })]),
    request: 'ns/c',
    writes: [statusWrite, write],
    want: { [resource]: { 'ns/c': { metadata: { finalizers: [] }, status: {} } } },
  },
  {
    name: 'keeps the allocation while another consumer remains',
    objects: objectsOf(
      [],
      [claim({ allocation, reservedFor: [...reservedFor, { apiGroup: 'x', resource: 'y', name: 'z', uid: 'z' }] }, { finalizers })],
    ),
    request: 'ns/c',
    writes: [statusWrite],
    want: { [resource]: { 'ns/c': { metadata: { finalizers }, status: { allocation, reservedFor: [{ apiGroup: 'x' }] } } } },
  },
  {
    name: 'releases a deleted claim without consumers',
    objects: objectsOf([], [claim({ allocation }, { finalizers, deletionTimestamp: '2026-01-01T00:00:00Z' })]),
    request: 'ns/c',
    writes: [statusWrite, write],
    want: { [resource]: { 'ns/c': undefined } },
  },
  { name: 'keeps an allocated claim without consumers', objects: objectsOf([], [claim({ allocation }, { finalizers })]), request: 'ns/c' },
  { name: 'ignores a claim that is gone', request: 'ns/c' },
]);

const known = (found?: KubeObject): { get: () => ResourceClaim | undefined } => ({ get: () => found as ResourceClaim | undefined });
it.each([
  { name: 'without a recorded claim needs work', of: pod(), expected: true },
  { name: 'with its claim needs none', of: pod({ status: recorded }), found: claim(), expected: false },
  { name: 'whose generated claim is gone needs work', of: pod({ status: recorded }), expected: true },
  {
    name: 'whose own claim is missing waits',
    of: pod({ spec: { resourceClaims: [{ name: 'gpu', resourceClaimName: 'c' }] } }),
    expected: false,
  },
  { name: 'with the claim of another pod waits', of: pod({ status: recorded }), found: claim({}, {}), expected: false },
  { name: 'whose claim is not needed waits', of: pod({ status: { resourceClaimStatuses: [{ name: 'gpu' }] } }), expected: false },
  {
    name: 'on a node with an allocated claim needs work',
    of: pod({ spec: { nodeName: 'n' }, status: recorded }),
    found: claim({ allocation }),
    expected: true,
  },
  {
    name: 'on a node with a reserved claim needs none',
    of: pod({ spec: { nodeName: 'n' }, status: recorded }),
    found: claim({ allocation, reservedFor }),
    expected: false,
  },
  { name: 'that is being deleted needs none', of: pod({ metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }), expected: false },
])('a pod $name', ({ of, found, expected }) => {
  expect(podNeedsWork(of as Pod, known(found))).toBe(expected);
});

it('cuts the names of generated claims in proportion', () => {
  expect(claimNamePrefix('p', 'gpu')).toBe('p-gpu-');
  expect(claimNamePrefix('p'.repeat(60), 'c'.repeat(58))).toBe(`${'p'.repeat(28)}-${'c'.repeat(27)}`);
});

it('generates the claim of a pod, and deletes it when the pod is done', async () => {
  await using cluster = await startTestCluster({ controllers: ['resourceclaim-controller'] });
  const workloads = new Workloads(cluster);
  const spec = { spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'gpu' } }] } } };
  const made = await workloads.create<Pod>('pods', {
    metadata: { name: 'p' },
    spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }], resourceClaims: [entry] },
  });
  await workloads.create('resource.k8s.io/v1/resourceclaimtemplates', { metadata: { name: 't' }, spec });
  const claimsOf = (): Promise<ResourceClaim[]> => workloads.list<ResourceClaim>('resource.k8s.io/v1/resourceclaims');
  await vi.waitFor(async () => expect(await claimsOf()).toHaveLength(1));
  const [generated] = await claimsOf();
  expect(generated?.metadata.name).toMatch(/^p-gpu-[a-z0-9]{5}$/);
  await vi.waitFor(async () => {
    const { status } = await workloads.get<Pod>('pods', 'p');
    expect(status?.resourceClaimStatuses).toEqual([{ name: 'gpu', resourceClaimName: generated?.metadata.name }]);
  });
  await workloads.setPhase(made, 'Succeeded');
  await vi.waitFor(async () => expect(await claimsOf()).toEqual([]));
});
