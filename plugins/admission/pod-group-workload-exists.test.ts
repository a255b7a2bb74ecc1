import type { KubeObject } from 'kubenest/sdk';
import { admissionTable, fakeClient } from 'kubenest/sdk/testing';
import { PodGroupWorkloadExists } from './pod-group-workload-exists.ts';
import { object } from './test-objects.ts';

const group = (spec: object = {}, metadata: KubeObject['metadata'] = {}) =>
  object('scheduling.k8s.io/v1alpha2', 'PodGroup', { spec }, { namespace: 'ns', ...metadata });

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
