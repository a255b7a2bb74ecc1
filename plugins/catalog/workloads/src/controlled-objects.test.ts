import { describe } from 'vitest';
import type { KubeObject } from 'kubenest/sdk';
import { type AdmissionRow, admissionTable, fakeClient, fakeInformers } from 'kubenest/sdk/testing';
import { DisallowBarePods } from './disallow-bare-pods.ts';

const labels = { app: 'web' };
const owner = (apiVersion: string, kind: string, spec: object): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name: 'web', namespace: 'shop', uid: 'u1' },
  spec,
});
const replicaSet = owner('apps/v1', 'ReplicaSet', { selector: { matchLabels: labels } });
const controller = owner('v1', 'ReplicationController', { selector: labels });
const job = owner('batch/v1', 'Job', { selector: { matchLabels: labels } });
const widget = owner('acme.example/v1', 'Widget', {});

interface Reference {
  readonly uid?: string;
  readonly controller?: boolean;
  readonly labels?: Record<string, string>;
}

/** Returns a pod whose ownerReference names an object. */
function podOf(
  { apiVersion, kind }: KubeObject,
  { uid = 'u1', controller: isController = true, labels: own = labels }: Reference = {},
): KubeObject {
  const ownerReferences = [{ apiVersion, kind, name: 'web', uid, controller: isController }];
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web-1', namespace: 'shop', labels: own, ownerReferences }, spec: {} };
}

const mirror: KubeObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'shop', annotations: { 'kubernetes.io/config.mirror': 'a' } },
  spec: {},
};
const denied = /the pod has no controller/;
const node = { name: 'system:node:a', groups: ['system:nodes', 'system:authenticated'] };
const rows: readonly AdmissionRow[] = [
  { name: 'a pod of a ReplicaSet', object: podOf(replicaSet) },
  { name: 'a pod of a ReplicationController', object: podOf(controller) },
  { name: 'a pod of a Job', object: podOf(job) },
  { name: 'a pod with another uid of its owner', object: podOf(replicaSet, { uid: 'forged' }), denied },
  { name: 'a pod that its owner does not select', object: podOf(replicaSet, { labels: {} }), denied },
  { name: 'a pod whose owner is no controller', object: podOf(replicaSet, { controller: false }), denied },
  { name: 'a pod whose owner does not exist', object: podOf(owner('apps/v1', 'StatefulSet', {})), denied },
  { name: 'a pod of a kind that creates no pods', object: podOf(owner('v1', 'ConfigMap', {})), denied },
  { name: 'a pod of a custom resource', object: podOf(widget), denied },
  { name: 'a pod without owners', object: { ...mirror, metadata: { name: 'web', namespace: 'shop' } }, denied },
  { name: 'a mirror pod of a node', object: mirror, user: node },
  { name: 'a mirror pod of a user', object: mirror, user: { name: 'ali', groups: [] }, denied },
];

const found = { 'replicasets.apps': [replicaSet], replicationcontrollers: [controller], 'jobs.batch': [job] };

describe('with informers that know the owners', () => {
  admissionTable(DisallowBarePods, rows, {
    informers: fakeInformers(found),
    client: fakeClient({ get: () => Promise.resolve(undefined) }),
  });
});

describe('with informers that lag behind', () => {
  admissionTable(DisallowBarePods, rows, {
    informers: fakeInformers(),
    client: fakeClient({
      get: ({ group, resource }) =>
        Promise.resolve((found as Record<string, KubeObject[]>)[group === '' ? resource : `${resource}.${group}`]?.[0] as never),
    }),
  });
});
