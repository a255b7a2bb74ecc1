import type { KubeObject } from 'kubenest/sdk';
import { admissionTable } from 'kubenest/sdk/testing';
import { SpreadReplicas } from './spread-replicas.ts';

const selector = { matchLabels: { app: 'web' } };
const deployment = (spec: object): KubeObject =>
  ({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec: { selector, template: { spec } } }) as KubeObject;
const spread = { maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway', labelSelector: selector };

admissionTable(SpreadReplicas, [
  {
    name: 'a deployment without constraints',
    object: deployment({}),
    want: { spec: { selector, template: { spec: { topologySpreadConstraints: [spread] } } } },
  },
  { name: 'a deployment with its own constraints', object: deployment({ topologySpreadConstraints: [] }) },
  { name: 'another kind', object: { ...deployment({}), kind: 'ReplicaSet' } },
]);
