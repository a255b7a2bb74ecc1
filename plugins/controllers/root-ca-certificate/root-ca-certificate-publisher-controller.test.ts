import type { KubeObject } from 'kubenest/sdk';
import { expect, it } from 'vitest';
import { FakeCluster } from '#sdk/testing/fake-cluster';
import { partialObject } from '../common/testing/partial-object.ts';
import { RootCertificatePublisher } from './root-ca-certificate-publisher-controller.ts';

const annotations = { 'kubernetes.io/description': expect.stringMatching(/^Contains a CA bundle/) as string };
const namespace = (phase: string) => partialObject({ metadata: { name: 'ns' }, status: { phase } });
const configMap = (data: object, metadata: object = { annotations: { 'kubernetes.io/description': 'own', other: 'x' } }) =>
  partialObject({ metadata: { namespace: 'ns', name: 'kube-root-ca.crt', ...metadata }, data });

it.each<{ name: string; phase?: string; present?: KubeObject[]; write?: string; want?: object }>([
  { name: 'publishes the authority', write: 'create', want: { data: { 'ca.crt': 'CA' }, metadata: { annotations } } },
  {
    name: 'restores changed data',
    present: [configMap({ 'ca.crt': 'x', more: 'y' })],
    write: 'update',
    want: { data: { 'ca.crt': 'CA' } },
  },
  {
    name: 'restores the description, and keeps other annotations',
    present: [configMap({ 'ca.crt': 'CA' }, { annotations: { other: 'x' } })],
    write: 'update',
    want: { metadata: { annotations: { ...annotations, other: 'x' } } },
  },
  { name: 'leaves a right config map alone', present: [configMap({ 'ca.crt': 'CA' })] },
  { name: 'ignores a namespace that is being deleted', phase: 'Terminating' },
])('$name', async ({ phase = 'Active', present = [], write, want }) => {
  const cluster = new FakeCluster({ namespaces: [namespace(phase)], configmaps: present });
  await new RootCertificatePublisher(cluster, { rootCertificateAuthority: 'CA' }, cluster.informers).reconcile({
    namespace: '',
    name: 'ns',
  });
  expect(cluster.writes.map(({ verb }) => verb)).toEqual(write === undefined ? [] : [write]);
  if (want) expect(cluster.stored('configmaps', 'ns', 'kube-root-ca.crt')).toMatchObject(want);
});
