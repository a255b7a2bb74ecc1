import { expect, it } from 'vitest';
import { startTestCluster } from 'kubenest/testing';

interface StorageVersion {
  readonly metadata: { readonly name: string };
  readonly spec: object;
  readonly status: { readonly storageVersions: readonly { readonly servedVersions: readonly string[] }[] };
}

const path = '/apis/internal.apiserver.k8s.io/v1alpha1/storageversions';
const flags = ['--feature-gates=StorageVersionAPI=true', '--runtime-config=internal.apiserver.k8s.io/v1alpha1=true'];

it('StorageVersionAPI: a ready server has recorded its stored resources and versions', async () => {
  await using cluster = await startTestCluster({ flags });
  const { items } = (await (await cluster.fetch(path)).json()) as { readonly items: readonly StorageVersion[] };
  const byName = new Map(items.map((item) => [item.metadata.name, item]));
  const lease = await (await cluster.fetch('/apis/coordination.k8s.io/v1/namespaces/kube-system/leases')).json();
  const [{ metadata }] = (lease as { items: [StorageVersion] }).items;
  const versions = (encodingVersion: string, decodableVersions: string[], servedVersions: string[]) => ({
    commonEncodingVersion: encodingVersion,
    conditions: [
      { type: 'AllEncodingVersionsEqual', status: 'True', reason: 'CommonEncodingVersionSet', message: 'Common encoding version set' },
    ],
    storageVersions: [{ apiServerID: metadata.name, encodingVersion, decodableVersions, servedVersions }],
  });
  expect(byName.get('core.pods')).toMatchObject({ spec: {}, status: versions('v1', ['v1'], ['v1']) });
  expect(byName.get('core.events')).toMatchObject({ status: versions('v1', ['v1', 'events.k8s.io/v1'], ['v1']) });
  expect(byName.get('autoscaling.horizontalpodautoscalers')).toMatchObject({
    status: versions('autoscaling/v2', ['autoscaling/v2', 'autoscaling/v1'], ['autoscaling/v2', 'autoscaling/v1']),
  });
  const group = 'admissionregistration.k8s.io';
  const [v1, beta, alpha] = [`${group}/v1`, `${group}/v1beta1`, `${group}/v1alpha1`];
  expect(byName.get(`${group}.mutatingadmissionpolicies`)).toMatchObject({ status: versions(beta, [v1, beta, alpha], [v1]) });
  expect(byName.has('internal.apiserver.k8s.io.storageversions')).toBe(true);
  expect(byName.has('events.k8s.io.events')).toBe(false);
  expect(byName.has('authorization.k8s.io.subjectaccessreviews')).toBe(false);
});
