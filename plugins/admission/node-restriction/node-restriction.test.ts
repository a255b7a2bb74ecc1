import type { KubeObject } from 'kubenest/sdk';
import { type AdmissionRow, admissionTable, fakeAuthorizer, fakeInformers } from 'kubenest/sdk/testing';
import { object, pod } from '../test-objects.ts';
import { NodeRestriction } from './node-restriction.ts';

const user = { name: 'system:node:mine', groups: ['system:nodes', 'system:authenticated'] };
const asNode = (rows: readonly AdmissionRow[]): AdmissionRow[] => rows.map((row) => ({ user, ...row }));
const node = (name: string, rest: object = {}, metadata: KubeObject['metadata'] = {}) =>
  object('v1', 'Node', { ...rest }, { name, ...metadata });
const mirror = { 'kubernetes.io/config.mirror': 'x' };
const owner = { apiVersion: 'v1', kind: 'Node', name: 'mine', uid: 'node-uid', controller: true };
const mirrorPod = (spec: object = {}, metadata: KubeObject['metadata'] = {}) =>
  pod({ nodeName: 'mine', ...spec }, { annotations: mirror, ownerReferences: [owner], ...metadata });
const token = (spec: object) => object('authentication.k8s.io/v1', 'TokenRequest', { spec }, { namespace: 'ns' });
const bound = { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'x', uid: 'pod-uid' } };
const audienceVolume = { name: 'v', projected: { sources: [{ serviceAccountToken: { audience: 'vault' } }] } };
const services = {
  informers: fakeInformers({
    nodes: [node('mine', {}, { uid: 'node-uid' })],
    pods: [
      pod({ nodeName: 'mine', volumes: [audienceVolume, { name: 'c', csi: { driver: 'csi.example.com' } }] }, { uid: 'pod-uid' }),
      pod({ nodeName: 'other' }, { name: 'other', uid: 'other-uid' }),
    ],
    'csidrivers.storage.k8s.io': [
      object('storage.k8s.io/v1', 'CSIDriver', { spec: { tokenRequests: [{ audience: 'csi' }] } }, { name: 'csi.example.com' }),
    ],
  }),
  authorizer: fakeAuthorizer(({ verb, resource }) => verb === 'request-serviceaccounts-token-audience' && resource === 'granted'),
};
const tokenRow = { resource: { group: '', resource: 'serviceaccounts' }, subresource: 'token' };

admissionTable(
  NodeRestriction,
  asNode([
    { name: 'requests of other users are not restricted', user: { name: 'jane', groups: [] }, object: node('any') },
    { name: "a node's user name without the group is not a node", user: { name: 'system:node:mine', groups: [] }, object: node('any') },
    {
      name: "a node's group without a valid user name",
      user: { ...user, name: 'system:node:' },
      object: node('any'),
      denied: /could not determine node from user/,
    },
    {
      name: 'another resource, for a node without a name',
      user: { ...user, name: 'system:node:' },
      resource: { group: 'authorization.k8s.io', resource: 'selfsubjectaccessreviews' },
      object: object('authorization.k8s.io/v1', 'SelfSubjectAccessReview', {}),
      denied: /could not determine node from user "system:node:"/,
    },
    { name: 'a pod of another group', resource: { group: 'metrics.dev', resource: 'pods' }, object: pod() },
    { name: 'its own mirror pod', object: mirrorPod() },
    { name: 'another pod', object: pod({ nodeName: 'mine' }), denied: /can only create mirror pods/ },
    { name: 'a mirror pod owned by another node', object: mirrorPod({ nodeName: 'other' }), denied: /with spec.nodeName set to itself/ },
    {
      name: 'a mirror pod without an owner',
      object: mirrorPod({}, { ownerReferences: [] }),
      denied: /with an owner reference set to itself/,
    },
    {
      name: 'a mirror pod owned by an earlier node of the same name',
      object: mirrorPod({}, { ownerReferences: [{ ...owner, uid: 'wrong' }] }),
      denied: /node mine UID mismatch: expected wrong got node-uid/,
    },
    {
      name: 'a mirror pod with a secret',
      object: mirrorPod({ volumes: [{ name: 'v', iscsi: { secretRef: { name: 's' } } }] }),
      denied: /can not create pods that reference secrets/,
    },
    {
      name: 'a mirror pod with a config map in an init container',
      object: mirrorPod({ initContainers: [{ name: 'i', envFrom: [{ configMapRef: { name: 'c' } }] }] }),
      denied: /reference configmaps/,
    },
    { name: 'the deletion of its own pod', operation: 'DELETE', oldObject: pod({ nodeName: 'mine' }) },
    {
      name: "the deletion of another node's pod",
      operation: 'DELETE',
      oldObject: pod({ nodeName: 'other' }, { name: 'other' }),
      denied: /can only delete pods/,
    },
    {
      name: 'the deletion of a pod that the cache has not received',
      operation: 'DELETE',
      oldObject: pod({}, { name: 'gone' }),
      denied: /^pod "gone" not found$/,
    },
    {
      name: 'a mirror pod with an empty config map reference',
      object: mirrorPod({ initContainers: [{ name: 'i', envFrom: [{ configMapRef: { name: '' } }] }] }),
    },
    {
      name: 'a certificate for a pod that the cache has not received',
      object: object(
        'certificates.k8s.io/v1beta1',
        'PodCertificateRequest',
        { spec: { nodeName: 'mine', nodeUID: 'node-uid', podName: 'gone' } },
        { namespace: 'ns' },
      ),
      fails: /^while retrieving pod "ns\/gone" named in the PodCertificateRequest: pod "gone" not found$/,
    },
    { name: 'the status of its own pod', subresource: 'status', object: pod({ nodeName: 'mine' }), oldObject: pod({ nodeName: 'mine' }) },
    {
      name: 'a label change through the status',
      subresource: 'status',
      object: pod({ nodeName: 'mine' }, { labels: { a: 'b' } }),
      oldObject: pod({ nodeName: 'mine' }),
      denied: /cannot update labels through pod status/,
    },
    { name: 'an exec subresource', subresource: 'resize', object: pod(), oldObject: pod(), denied: /unexpected pod subresource "resize"/ },
    {
      name: "the eviction of another node's pod",
      resource: { group: '', resource: 'pods' },
      subresource: 'eviction',
      object: object('policy/v1', 'Eviction', {}, { name: 'other', namespace: 'ns' }),
      denied: /node mine can only evict pods/,
    },
    { name: 'itself', object: node('mine', {}, { labels: { 'kubernetes.io/hostname': 'h', 'example.com/x': 'y' } }) },
    { name: 'another node', object: node('other'), denied: /node "mine" is not allowed to modify node "other"/ },
    {
      name: 'a restricted label',
      object: node('mine', {}, { labels: { 'node-restriction.kubernetes.io/secure': 'yes', 'k8s.io/x': 'y' } }),
      denied: /is not allowed to set the following labels: k8s.io\/x, node-restriction.kubernetes.io\/secure/,
    },
    {
      name: 'its own taints',
      object: node('mine'),
      oldObject: node('mine', { spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } }),
      denied: /is not allowed to modify taints/,
    },
    {
      name: 'a claim',
      object: object('v1', 'PersistentVolumeClaim', {}, { namespace: 'ns' }),
      oldObject: object('v1', 'PersistentVolumeClaim', {}, { namespace: 'ns' }),
      denied: /may only update PVC status/,
    },
    {
      name: "a claim's capacity",
      subresource: 'status',
      object: object('v1', 'PersistentVolumeClaim', { status: { capacity: { storage: '1Gi' } } }, { namespace: 'ns' }),
      oldObject: object('v1', 'PersistentVolumeClaim', {}, { namespace: 'ns' }),
    },
    {
      name: "a claim's phase",
      subresource: 'status',
      object: object('v1', 'PersistentVolumeClaim', { status: { phase: 'Bound' } }, { namespace: 'ns' }),
      oldObject: object('v1', 'PersistentVolumeClaim', {}, { namespace: 'ns' }),
      denied: /not allowed to update fields other than/,
    },
    { name: 'a token for its own pod', ...tokenRow, object: token({ ...bound, audiences: ['vault'] }) },
    { name: 'a token for a volume of its own pod', ...tokenRow, object: token({ ...bound, audiences: ['csi'] }) },
    { name: 'a token for an audience granted to it', ...tokenRow, object: token({ ...bound, audiences: ['granted'] }) },
    {
      name: 'a token for another account',
      ...tokenRow,
      object: token({ ...bound, audiences: ['bank'] }),
      denied: /audience "bank" not found in pod spec volume/,
    },
    { name: 'a token without a bound pod', ...tokenRow, object: token({}), denied: /node requested token not bound to a pod/ },
    {
      name: 'a token for a pod on another node',
      ...tokenRow,
      object: token({ boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'other', uid: 'other-uid' } }),
      denied: /pod scheduled on a different node/,
    },
    { name: 'its own lease', object: object('coordination.k8s.io/v1', 'Lease', {}, { name: 'mine', namespace: 'kube-node-lease' }) },
    {
      name: 'a lease in another namespace',
      object: object('coordination.k8s.io/v1', 'Lease', {}, { name: 'mine', namespace: 'ns' }),
      denied: /system namespace/,
    },
    {
      name: "another node's lease",
      object: object('coordination.k8s.io/v1', 'Lease', {}, { name: 'x', namespace: 'kube-node-lease' }),
      denied: /same name/,
    },
    {
      name: "another node's CSINode",
      object: object('storage.k8s.io/v1', 'CSINode', {}, { name: 'x' }),
      denied: /can only access CSINode/,
    },
    {
      name: 'a slice of another node',
      object: object('resource.k8s.io/v1', 'ResourceSlice', { spec: { nodeName: 'other' } }),
      denied: /can only create ResourceSlice with the same NodeName/,
    },
  ]),
  services,
);
