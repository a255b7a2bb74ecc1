import type { AuthorizationAttributes, KubeObject } from 'kubenest/sdk';
import { fakeInformers } from 'kubenest/sdk/testing';
import { describe, expect, it } from 'vitest';
import { attributes } from '../test-attributes.ts';
import { Node } from './node.ts';

const object = (kind: string, metadata: object, rest: object): KubeObject => ({ apiVersion: 'v1', kind, metadata, ...rest }) as KubeObject;
const pod = (name: string, nodeName: string, volumes: object[], more: object = {}, metadata: object = {}): KubeObject =>
  object('Pod', { name, namespace: 'ns', ...metadata }, { spec: { nodeName, volumes, ...more } });
const informers = fakeInformers({
  pods: [
    pod(
      'p',
      'n',
      [{ secret: { secretName: 'mounted' } }, { configMap: { name: 'config' } }, { persistentVolumeClaim: { claimName: 'claim' } }],
      {
        serviceAccountName: 'robot',
      },
    ),
    pod('q', 'other', [{ secret: { secretName: 'far' } }]),
    pod('m', 'n', [{ secret: { secretName: 'mirrored' } }], {}, { annotations: { 'kubernetes.io/config.mirror': 'x' } }),
  ],
  persistentvolumes: [
    object(
      'PersistentVolume',
      { name: 'volume' },
      { spec: { claimRef: { namespace: 'ns', name: 'claim' }, csi: { nodePublishSecretRef: { namespace: 'ns', name: 'disk' } } } },
    ),
  ],
  'volumeattachments.storage.k8s.io': [object('VolumeAttachment', { name: 'attached' }, { spec: { nodeName: 'n' } })],
});
const authorizer = new Node(informers, { enabled: () => true });
const user = { name: 'system:node:n', groups: ['system:nodes'] };
const selector = (value: string) => ({ fieldSelector: [{ key: 'spec.nodeName', operator: 'In', values: [value] }] }) as const;
const unrelated = "no relationship found between node 'n' and this object";

interface Row {
  readonly name: string;
  readonly request: Partial<AuthorizationAttributes>;
  /** Reason of the refusal; undefined: the request is allowed. */
  readonly reason?: string;
}

describe('a node', () => {
  it.each<Row>([
    { name: 'reads a secret of its pod', request: { resource: 'secrets', name: 'mounted' } },
    { name: 'reads a config map of its pod', request: { resource: 'configmaps', name: 'config', verb: 'watch' } },
    { name: 'reads no secret of a pod elsewhere', request: { resource: 'secrets', name: 'far' }, reason: unrelated },
    { name: 'reads no secret of a mirror pod', request: { resource: 'secrets', name: 'mirrored' }, reason: unrelated },
    { name: 'lists no secrets', request: { resource: 'secrets', name: '', verb: 'list' }, reason: 'No Object name found' },
    {
      name: 'writes no secrets',
      request: { resource: 'secrets', name: 'mounted', verb: 'update' },
      reason: 'can only read resources of this type',
    },
    { name: 'reads a claim of its pod', request: { resource: 'persistentvolumeclaims', name: 'claim' } },
    {
      name: 'updates the status of a claim',
      request: { resource: 'persistentvolumeclaims', name: 'claim', verb: 'patch', subresource: 'status' },
    },
    { name: 'reads the volume of its claim', request: { resource: 'persistentvolumes', name: 'volume', namespace: '' } },
    { name: 'reads the secret of the volume', request: { resource: 'secrets', name: 'disk' } },
    {
      name: 'reads its attachment',
      request: { apiGroup: 'storage.k8s.io', resource: 'volumeattachments', name: 'attached', namespace: '' },
    },
    {
      name: 'gets tokens of accounts of its pods',
      request: { resource: 'serviceaccounts', name: 'robot', verb: 'create', subresource: 'token' },
    },
    {
      name: 'gets no other tokens',
      request: { resource: 'serviceaccounts', name: 'admin', verb: 'create', subresource: 'token' },
      reason: unrelated,
    },
    { name: 'reads its pod', request: { name: 'p' } },
    { name: 'lists the pods that it selects', request: { name: '', verb: 'list', ...selector('n') } },
    {
      name: 'lists no pods of another node',
      request: { name: '', verb: 'list', ...selector('other') },
      reason: 'can only list/watch pods with spec.nodeName field selector',
    },
    { name: 'evicts pods', request: { verb: 'create', subresource: 'eviction' } },
    { name: 'runs nothing in pods', request: { verb: 'create', subresource: 'exec' }, reason: '' },
    { name: 'reads itself', request: { resource: 'nodes', name: 'n', namespace: '' } },
    {
      name: 'reads no other node',
      request: { resource: 'nodes', name: 'other', namespace: '' },
      reason: "node 'n' cannot read 'other', only its own Node object",
    },
    { name: 'reads its lease', request: { apiGroup: 'coordination.k8s.io', resource: 'leases', namespace: 'kube-node-lease', name: 'n' } },
    {
      name: 'reads no other lease',
      request: { apiGroup: 'coordination.k8s.io', resource: 'leases', namespace: 'kube-node-lease', name: 'other' },
      reason: 'can only access node lease with the same name as the requesting node',
    },
    {
      name: 'reads no lease of another namespace',
      request: { apiGroup: 'coordination.k8s.io', resource: 'leases', name: 'n' },
      reason: 'can only access leases in the "kube-node-lease" system namespace',
    },
    { name: 'reads services by the rules of all nodes', request: { resource: 'services', verb: 'list', name: '' } },
    { name: 'reads no deployments', request: { apiGroup: 'apps', resource: 'deployments' }, reason: '' },
  ])('$name', ({ request, reason }) => {
    expect(authorizer.authorize(attributes({ user, ...request }))).toEqual(
      reason === undefined ? { decision: 'Allow', reason: '' } : { decision: 'NoOpinion', reason },
    );
  });
});

it.each([
  ['a user that is no node', { name: 'jane', groups: ['system:nodes'] }, ''],
  ['a node outside of the group', { name: 'system:node:n', groups: [] }, ''],
  ['a node without a name', { name: 'system:node:', groups: ['system:nodes'] }, 'unknown node for user "system:node:"'],
])('has no opinion of %s', (_, other, reason) => {
  expect(authorizer.authorize(attributes({ user: other, resource: 'secrets', name: 'mounted' }))).toEqual({
    decision: 'NoOpinion',
    reason,
  });
});

it.each([
  { gates: ['KubeletServiceAccountTokenForCredentialProviders'], reason: undefined },
  { gates: ['PodCertificateRequest'], reason: undefined },
  { gates: [], reason: 'not allowed to get service accounts' },
])('with $gates, a node gets the service account of its pod: $reason', ({ gates, reason }) => {
  const node = new Node(informers, { enabled: (gate) => (gates as readonly string[]).includes(gate) });
  expect(node.authorize(attributes({ user, resource: 'serviceaccounts', name: 'robot' }))).toEqual(
    reason === undefined ? { decision: 'Allow', reason: '' } : { decision: 'NoOpinion', reason },
  );
});

it('lists no rules, and reports the list as incomplete', () => {
  expect(authorizer.rulesFor(user)).toMatchObject({ incomplete: true, errors: ['node authorizer does not support user rule resolution'] });
  expect(authorizer.rulesFor({ name: 'jane', groups: [] })).toMatchObject({ incomplete: false, errors: [] });
});
