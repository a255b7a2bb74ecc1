import type { KubeObject } from 'kubenest/sdk';
import { admissionTable } from 'kubenest/sdk/testing';
import { PodGroupProtection } from './pod-group-protection.ts';
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
