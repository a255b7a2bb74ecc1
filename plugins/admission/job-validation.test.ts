import type { KubeObject } from 'kubenest/sdk';
import { admissionTable, fakeInformers } from 'kubenest/sdk/testing';
import { JobValidation } from './job-validation.ts';
import { object } from './test-objects.ts';

const group = (spec: object = {}, metadata: KubeObject['metadata'] = {}) =>
  object('scheduling.k8s.io/v1alpha2', 'PodGroup', { spec }, { namespace: 'ns', ...metadata });
const off = { featureGates: { enabled: () => false } };

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
