import type { KubeObject } from 'kubenest/sdk';
import { reconcileTable } from 'kubenest/sdk/testing';
import type { Secret } from 'kubenest/types/core_v1';
import { expect, it } from 'vitest';
import { partialObject } from '../common/testing/partial-object.ts';
import { BootstrapSignerController, signingKey } from './bootstrap-signer-controller.ts';

/** The signature of `payload` by the token `abc123.tokenSecret`. Source: bootstrapsigner_test.go. */
const signature = 'eyJhbGciOiJIUzI1NiIsImtpZCI6ImFiYzEyMyJ9..QSxpUG7Q542CirTI2ECPSZjvBOJURUW5a7XqFpNI958';
const own = 'jws-kubeconfig-abc123';
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const usable = { 'token-id': 'abc123', 'token-secret': 'tokenSecret', 'usage-bootstrap-signing': 'true' };
const token = (data: Record<string, string> = usable, name = 'bootstrap-token-abc123'): KubeObject =>
  partialObject({
    metadata: { name, namespace: 'kube-system' },
    type: 'bootstrap.kubernetes.io/token',
    data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, base64(value)])),
  });
const clusterInfo = (data: Record<string, string>): KubeObject =>
  partialObject({ metadata: { name: 'cluster-info', namespace: 'kube-public' }, data });
const request = 'kube-public/cluster-info';
const writes = ['update configmaps kube-public/cluster-info'];
const signed = { kubeconfig: 'payload', [own]: signature };

reconcileTable(BootstrapSignerController, [
  {
    name: 'signs by each token',
    objects: { configmaps: [clusterInfo({ kubeconfig: 'payload', other: 'kept' })], secrets: [token()] },
    request,
    writes,
    want: { configmaps: { [request]: { data: { ...signed, other: 'kept' } } } },
  },
  { name: 'leaves valid signatures alone', objects: { configmaps: [clusterInfo(signed)], secrets: [token()] }, request },
  {
    name: 'replaces a signature of other content',
    objects: { configmaps: [clusterInfo({ ...signed, [own]: 'old' })], secrets: [token()] },
    request,
    writes,
    want: { configmaps: { [request]: { data: signed } } },
  },
  { name: 'removes the signature of a token that is gone', objects: { configmaps: [clusterInfo(signed)] }, request, writes },
  { name: 'signs nothing without a kubeconfig', objects: { configmaps: [clusterInfo({ [own]: 'x' })], secrets: [token()] }, request },
  { name: 'waits for the ConfigMap', objects: { secrets: [token()] }, request },
]);

it.each([
  { name: 'signs', of: token(), expected: { id: 'abc123', secret: 'tokenSecret' } },
  { name: 'of another name does not sign', of: token(usable, 'bootstrap-token-def456') },
  { name: 'of a malformed name does not sign', of: token(usable, 'bootstrap-token-ABC123') },
  { name: 'without a secret does not sign', of: token({ ...usable, 'token-secret': '' }) },
  { name: 'that may not sign does not', of: token({ ...usable, 'usage-bootstrap-signing': 'yes' }) },
  { name: 'that has expired does not sign', of: token({ ...usable, expiration: '1970-01-01T00:00:00Z' }) },
])('a token $name', ({ of, expected }) => {
  expect(signingKey(of as Secret, 0)).toEqual(expected);
});
