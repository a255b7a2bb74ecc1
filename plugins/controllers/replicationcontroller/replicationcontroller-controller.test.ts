import type { KubeObject } from 'kubenest/sdk';
import { reconcileTable } from 'kubenest/sdk/testing';
import { partialObject } from '../common/testing/partial-object.ts';
import { ReplicationControllerController } from './replicationcontroller-controller.ts';

const labels = { app: 'web' };
const controller = (replicas: number, selector: object = labels, status: object = { replicas, observedGeneration: 1 }): KubeObject =>
  partialObject({
    apiVersion: 'v1',
    kind: 'ReplicationController',
    metadata: { namespace: 'ns', name: 'web', uid: 'u', generation: 1 },
    spec: { replicas, selector, template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } } },
    status,
  });
const owned = { apiVersion: 'v1', kind: 'ReplicationController', name: 'web', uid: 'u', controller: true, blockOwnerDeletion: true };
const pod = (name: string, metadata: object = {}): KubeObject =>
  partialObject({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'ns', name, uid: name, labels, ownerReferences: [owned], ...metadata },
    spec: {},
    status: { phase: 'Running' },
  });
const status = { replicas: 1, fullyLabeledReplicas: 1, observedGeneration: 1 };

reconcileTable(ReplicationControllerController, [
  { name: 'counts its pods', objects: { replicationcontrollers: [controller(1, labels, status)], pods: [pod('a')] }, request: 'ns/web' },
  {
    name: 'adopts a pod that its selector matches',
    objects: { replicationcontrollers: [controller(1, labels, status)], pods: [pod('a', { ownerReferences: undefined })] },
    request: 'ns/web',
    writes: ['patch pods ns/a'],
    want: { pods: { 'ns/a': { metadata: { ownerReferences: [owned] } } } },
  },
  {
    name: 'releases a pod that its selector does not match any more',
    objects: { replicationcontrollers: [controller(0, { app: 'other' }, { replicas: 0, observedGeneration: 1 })], pods: [pod('a')] },
    request: 'ns/web',
    writes: ['patch pods ns/a'],
    want: { pods: { 'ns/a': { metadata: { labels } } } },
  },
  {
    name: 'deletes a pod too many, and writes the status without terminating replicas',
    objects: { replicationcontrollers: [controller(0, labels, {})], pods: [pod('a')] },
    request: 'ns/web',
    writes: ['delete pods ns/a', 'update replicationcontrollers/status ns/web'],
    want: { pods: { 'ns/a': undefined }, replicationcontrollers: { 'ns/web': { status: { ...status, terminatingReplicas: undefined } } } },
    events: [{ type: 'Normal', reason: 'SuccessfulDelete', message: 'Deleted pod: a' }],
  },
  { name: 'ignores a controller that is gone', objects: { pods: [pod('a')] }, request: 'ns/web' },
]);
