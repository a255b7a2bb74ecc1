import { expect, it } from 'vitest';
import { startTestCluster } from '#testing/index';

interface Discovered {
  readonly groups?: readonly { readonly versions: readonly { readonly groupVersion: string }[] }[];
  readonly resources?: readonly { readonly name: string; readonly verbs: readonly string[] }[];
}

it('lists of deprecated versions have the warnings of kube-apiserver v1.36.3, all others none', async () => {
  await using cluster = await startTestCluster({ flags: ['--runtime-config=api/all=true'] });
  const read = async (path: string): Promise<Discovered> => (await (await cluster.fetch(path)).json()) as Discovered;
  const versions = (await read('/apis')).groups?.flatMap((group) => group.versions.map(({ groupVersion }) => groupVersion)) ?? [];
  const found: string[] = [];
  for (const root of ['/api/v1', ...versions.map((version) => `/apis/${version}`)])
    for (const { name, verbs } of (await read(root)).resources ?? []) {
      if (!verbs.includes('list') || name.includes('/')) continue;
      const warning = (await cluster.fetch(`${root}/${name}`)).headers.get('warning');
      if (warning !== null) found.push(warning.replace(/^299 - "(.*)"$/, '$1'));
    }
  const removed = (types: string, since: string, release: string): string[] =>
    types.split(', ').map((type) => `${type} is deprecated in v${since}+, unavailable in v${release}+`);
  expect(found.sort()).toEqual(
    [
      ...removed('networking.k8s.io/v1beta1 IPAddress, networking.k8s.io/v1beta1 ServiceCIDR', '1.34', '1.37'),
      ...removed('admissionregistration.k8s.io/v1alpha1 MutatingAdmissionPolicy', '1.35', '1.38'),
      ...removed('admissionregistration.k8s.io/v1alpha1 MutatingAdmissionPolicyBinding', '1.35', '1.38'),
      ...removed('coordination.k8s.io/v1beta1 LeaseCandidate, resource.k8s.io/v1alpha3 DeviceTaintRule', '1.36', '1.39'),
      ...removed('coordination.k8s.io/v1alpha2 LeaseCandidate', '1.35', '1.38'),
      ...['DeviceClass', 'ResourceClaim', 'ResourceClaimTemplate', 'ResourceSlice'].flatMap((kind) => [
        ...removed(`resource.k8s.io/v1beta1 ${kind}`, '1.35', '1.38'),
        ...removed(`resource.k8s.io/v1beta2 ${kind}`, '1.36', '1.39'),
      ]),
      'storage.k8s.io/v1beta1 VolumeAttributesClass is deprecated in v1.34+, unavailable in v1.37+; use storage.k8s.io/v1 VolumeAttributesClass',
      'v1 ComponentStatus is deprecated in v1.19+',
      'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
    ].sort(),
  );
});
