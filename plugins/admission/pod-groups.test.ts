import type { KubeObject } from 'kubenest/sdk';
import { admissionTable, fakeClient, fakeInformers } from 'kubenest/sdk/testing';
import { JobValidation } from './job-validation.ts';
import { PodGroupProtection } from './pod-group-protection.ts';
import { PodGroupWorkloadExists } from './pod-group-workload-exists.ts';
import { Priority } from './priority.ts';
import { object } from './test-objects.ts';

const group = (spec: object = {}, metadata: KubeObject['metadata'] = {}) =>
  object('scheduling.k8s.io/v1alpha2', 'PodGroup', { spec }, { namespace: 'ns', ...metadata });
const off = { featureGates: { enabled: () => false } };

admissionTable(PodGroupProtection, [
  {
    name: 'a group gets the finalizer',
    object: group(),
    want: { metadata: { name: 'x', namespace: 'ns', finalizers: ['scheduling.k8s.io/podgroup-protection'] } },
  },
]);
admissionTable(PodGroupProtection, [{ name: 'with the feature gate disabled', object: group() }], off);

const workload = (metadata = {}) =>
  object('scheduling.k8s.io/v1alpha2', 'Workload', { spec: { podGroupTemplates: [{ name: 'workers' }] } }, metadata);
const client = fakeClient({
  get: async (_target, _namespace, name) =>
    name === 'here' ? workload() : name === 'going' ? workload({ deletionTimestamp: '2020-01-01T00:00:00Z' }) : undefined,
});
const made = (workloadName: string, podGroupTemplateName = 'workers') =>
  group({ podGroupTemplateRef: { workload: { workloadName, podGroupTemplateName } } });
admissionTable(
  PodGroupWorkloadExists,
  [
    { name: 'without a workload', object: group() },
    { name: 'of an existing template', object: made('here') },
    { name: 'of a missing template', object: made('here', 'others'), denied: /PodGroupTemplate "others" not found in Workload "here"/ },
    { name: 'of a missing workload', object: made('none'), denied: /PodGroup rejected: Workload "none" not found/ },
    { name: 'of a terminating workload', object: made('going'), denied: /Workload "going" is being deleted/ },
  ],
  { client },
);

const job = (parallelism: number, podGroupName?: string) =>
  object(
    'batch/v1',
    'Job',
    { spec: { parallelism, template: { spec: podGroupName ? { schedulingGroup: { podGroupName } } : {} } } },
    { namespace: 'ns', uid: 'job' },
  );
const gang = { schedulingPolicy: { gang: {} } };
const owner = { apiVersion: 'batch/v1', kind: 'Job', name: 'x', uid: 'job', controller: true };
admissionTable(
  JobValidation,
  [
    { name: 'a job without a group', object: job(2), oldObject: job(1) },
    {
      name: 'a job with a gang-scheduled group',
      object: job(2, 'gang'),
      oldObject: job(1, 'gang'),
      denied: /gang-scheduled PodGroup "gang"/,
    },
    { name: 'an unchanged job with a gang-scheduled group', object: job(1, 'gang'), oldObject: job(1, 'gang') },
    { name: 'a job with a group without gang scheduling', object: job(2, 'loose'), oldObject: job(1, 'loose') },
  ],
  { informers: fakeInformers({ 'podgroups.scheduling.k8s.io': [group(gang, { name: 'gang' }), group({}, { name: 'loose' })] }) },
);
admissionTable(
  JobValidation,
  [{ name: 'a job that controls a gang-scheduled group', object: job(2), oldObject: job(1), denied: /PodGroup "own"/ }],
  {
    informers: fakeInformers({ 'podgroups.scheduling.k8s.io': [group(gang, { name: 'own', ownerReferences: [owner] })] }),
  },
);
admissionTable(JobValidation, [{ name: 'with the feature gate disabled', object: job(2, 'gang'), oldObject: job(1, 'gang') }], off);

const priorityClass = (name: string, rest: object) => object('scheduling.k8s.io/v1', 'PriorityClass', { ...rest }, { name });
const informers = fakeInformers({
  'priorityclasses.scheduling.k8s.io': [priorityClass('high', { value: 1000 }), priorityClass('usual', { value: 10, globalDefault: true })],
});
admissionTable(
  Priority,
  [
    { name: 'a group without a class', object: group(), want: { spec: { priorityClassName: 'usual', priority: 10 } } },
    {
      name: 'a group with a class',
      object: group({ priorityClassName: 'high', priority: 1000 }),
      want: { spec: { priorityClassName: 'high', priority: 1000 } },
    },
    {
      name: 'a group whose priority differs from its class',
      object: group({ priorityClassName: 'high', priority: 1 }),
      denied: /priority set in the pod group \(1\) must match the priority computed \(1000\) based on the priority class set in the spec$/,
    },
    {
      name: 'a group with a missing class',
      object: group({ priorityClassName: 'none' }),
      denied: /no PriorityClass with name none/,
    },
  ],
  { informers },
);
admissionTable(Priority, [{ name: 'a group with the feature gate disabled', object: group() }], { informers, ...off });
