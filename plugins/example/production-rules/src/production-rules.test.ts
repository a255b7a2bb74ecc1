import { admissionTable, fakeInformers } from 'kubenest/sdk/testing';
import type { Draft } from 'kubenest/sdk';
import type { Deployment, Namespace, Secret } from 'kubenest/kinds';
import { productionRules } from './production-rules.ts';

const deployment = (replicas?: number, namespace = 'prod-eu'): Draft<Deployment> => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace },
  spec: {
    ...(replicas !== undefined && { replicas }),
    selector: { matchLabels: { app: 'web' } },
    template: { spec: { containers: [{ name: 'web', image: 'nginx', readinessProbe: { tcpSocket: { port: 80 } } }] } },
  },
});
const secret = (labels: Record<string, string>): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'key', namespace: 'prod-eu', labels },
});
const namespace = (name: string): Namespace => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'web', namespace: 'prod-eu' }, spec: { replicas: 1 } };

admissionTable(
  productionRules,
  [
    {
      name: 'a deployment that says nothing gets no token',
      object: deployment(3),
      want: { spec: { template: { spec: { automountServiceAccountToken: false } } } },
    },
    { name: 'a deployment with too few replicas', object: deployment(2), denied: /at least 3 replicas/ },
    { name: 'a deployment elsewhere', object: deployment(1, 'test') },
    {
      name: 'scaling down',
      object: scale,
      oldObject: scale,
      resource: { group: 'apps', resource: 'deployments' },
      subresource: 'scale',
      denied: /at least 3 replicas/,
    },
    {
      name: 'the deletion of a protected secret',
      oldObject: secret({ protected: 'true' }),
      operation: 'DELETE',
      denied: /key is protected/,
    },
    { name: 'the deletion of another secret', oldObject: secret({}), operation: 'DELETE' },
    { name: 'the deletion of a namespace in use', oldObject: namespace('prod-eu'), operation: 'DELETE', denied: /it has 1 Deployments/ },
    { name: 'the deletion of an empty namespace', oldObject: namespace('prod-us'), operation: 'DELETE' },
  ],
  { configuration: { leastReplicas: 3 }, informers: fakeInformers({ 'deployments.apps': [deployment()] }) },
);
