import 'reflect-metadata';
import type { ClientTarget, KubeObject } from 'kubenest/sdk';
import { FakeCluster } from 'kubenest/sdk/testing';
import { expect, it } from 'vitest';
import { partialObject } from '../common/testing/partial-object.ts';
import { CertificateSigningRequestApprovingController } from './certificatesigningrequest-approving-controller.ts';
import { newRequest } from './test-requests.ts';

const resource = 'certificatesigningrequests.certificates.k8s.io';
const kubelet = await newRequest('O=system:nodes, CN=system:node:n');
const user = await newRequest('CN=jane');

/** A cluster whose SubjectAccessReviews allow these subresources, and which records the asked ones. */
class ReviewingCluster extends FakeCluster {
  readonly asked: string[] = [];

  constructor(
    request: KubeObject,
    readonly allowed: readonly string[],
  ) {
    super({ [resource]: [request] });
  }

  override async create<T extends KubeObject>(target: ClientTarget, object: T): Promise<T> {
    if (target.resource !== 'subjectaccessreviews') return super.create(target, object);
    const { spec } = object as unknown as { spec: { user: string; resourceAttributes: { subresource: string } } };
    const { subresource } = spec.resourceAttributes;
    this.asked.push(`${spec.user} ${subresource}`);
    return { ...object, status: { allowed: this.allowed.includes(subresource) } };
  }
}

const request = (spec: object = {}, status: object = {}): KubeObject =>
  partialObject({
    metadata: { name: 'r' },
    spec: {
      request: kubelet,
      signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
      usages: ['digital signature', 'client auth'],
      username: 'system:bootstrap:abcdef',
      ...spec,
    },
    status,
  });
const decided = (type: string): object => ({ conditions: [{ type, status: 'True' }] });
const own = { username: 'system:node:n' };
const bootstrap = 'system:bootstrap:abcdef nodeclient';

interface Row {
  readonly name: string;
  readonly request: KubeObject;
  readonly allowed?: readonly string[];
  readonly asked: readonly string[];
  /** Expected message of the approval; undefined: the request is not approved. */
  readonly approved?: string;
}

it.each<Row>([
  {
    name: 'approves a kubelet whose user may create such requests',
    request: request(),
    allowed: ['nodeclient'],
    asked: [bootstrap],
    approved: 'Auto approving kubelet client certificate after SubjectAccessReview.',
  },
  {
    name: 'approves the renewal of a node',
    request: request(own),
    allowed: ['selfnodeclient'],
    asked: ['system:node:n selfnodeclient'],
    approved: 'Auto approving self kubelet client certificate after SubjectAccessReview.',
  },
  { name: 'leaves the request of another user', request: request(), asked: [bootstrap] },
  {
    name: 'asks for both permissions of a node',
    request: request(own),
    asked: ['system:node:n selfnodeclient', 'system:node:n nodeclient'],
  },
  { name: 'leaves another signer', request: request({ signerName: 'example.com/x' }), asked: [] },
  { name: 'leaves another subject', request: request({ request: user }), asked: [] },
  { name: 'leaves other usages', request: request({ usages: ['server auth'] }), asked: [] },
  { name: 'leaves an approved request', request: request({}, decided('Approved')), asked: [] },
  { name: 'leaves a denied request', request: request({}, decided('Denied')), asked: [] },
  { name: 'leaves an issued request', request: request({}, { certificate: 'eA==' }), asked: [] },
])('$name', async ({ request: object, allowed = [], asked, approved }) => {
  const cluster = new ReviewingCluster(object, allowed);
  await new CertificateSigningRequestApprovingController(cluster, cluster.informers).reconcile({ namespace: '', name: 'r' });
  expect(cluster.asked).toEqual(asked);
  expect(cluster.writes.map(({ verb, resource: written }) => `${verb} ${written}`)).toEqual(
    approved ? [`update ${resource}/approval`] : [],
  );
  if (approved)
    expect(cluster.stored(resource, '', 'r')).toMatchObject({
      status: { conditions: [{ type: 'Approved', status: 'True', reason: 'AutoApproved', message: approved }] },
    });
});
