import { describe, expect, test } from 'vitest';
import type { ServiceSpec } from '#kubernetes/schema/core_v1.gen';
import type { IPFamily } from './address-range.ts';
import { initIPFamilyFields, normalizeClusterIPs, patchAllocatedValues } from './cluster-ip-fields.ts';

const single: readonly IPFamily[] = ['IPv4'];
const dual: readonly IPFamily[] = ['IPv4', 'IPv6'];
const clusterIP = (spec: ServiceSpec): ServiceSpec => ({ type: 'ClusterIP', ...spec });

describe('normalizeClusterIPs', () => {
  test.each<{ name: string; spec: ServiceSpec; old?: ServiceSpec; want: ServiceSpec }>([
    {
      name: 'a new service with clusterIP only',
      spec: { clusterIP: '10.0.0.1' },
      want: { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'] },
    },
    { name: 'a new service with clusterIPs only is unchanged', spec: { clusterIPs: ['10.0.0.1'] }, want: { clusterIPs: ['10.0.0.1'] } },
    {
      name: 'an old client leaves clusterIPs out',
      spec: { clusterIP: 'a' },
      old: { clusterIP: 'a', clusterIPs: ['a', 'b'] },
      want: { clusterIP: 'a', clusterIPs: ['a', 'b'] },
    },
    { name: 'clusterIP is cleared', spec: { clusterIPs: ['a', 'b'] }, old: { clusterIP: 'a', clusterIPs: ['a', 'b'] }, want: {} },
    {
      name: 'clusterIP changes',
      spec: { clusterIP: 'c', clusterIPs: ['a'] },
      old: { clusterIP: 'a', clusterIPs: ['a'] },
      want: { clusterIP: 'c', clusterIPs: ['c'] },
    },
    {
      name: 'both change',
      spec: { clusterIP: 'c', clusterIPs: ['d'] },
      old: { clusterIP: 'a', clusterIPs: ['a'] },
      want: { clusterIP: 'c', clusterIPs: ['d'] },
    },
  ])('$name', ({ spec, old, want }) => {
    normalizeClusterIPs(spec, old);
    expect(spec).toEqual(want);
  });
});

describe('patchAllocatedValues', () => {
  test.each<{ name: string; spec: ServiceSpec; old: ServiceSpec; want: ServiceSpec }>([
    {
      name: 'addresses',
      spec: clusterIP({}),
      old: clusterIP({ clusterIP: 'a', clusterIPs: ['a'] }),
      want: clusterIP({ clusterIP: 'a', clusterIPs: ['a'] }),
    },
    {
      name: 'no addresses for ExternalName',
      spec: { type: 'ExternalName' },
      old: clusterIP({ clusterIP: 'a', clusterIPs: ['a'] }),
      want: { type: 'ExternalName' },
    },
    {
      name: 'node ports by port name, unless another port uses them',
      spec: {
        type: 'NodePort',
        ports: [
          { name: 'a', port: 1 },
          { name: 'b', port: 2, nodePort: 3 },
          { name: 'c', port: 3 },
          { name: 'new', port: 4 },
        ],
      },
      old: {
        type: 'NodePort',
        ports: [
          { name: 'a', nodePort: 1 },
          { name: 'b', nodePort: 2 },
          { name: 'c', nodePort: 3 },
        ],
      },
      want: {
        type: 'NodePort',
        ports: [
          { name: 'a', port: 1, nodePort: 1 },
          { name: 'b', port: 2, nodePort: 3 },
          { name: 'c', port: 3 },
          { name: 'new', port: 4 },
        ],
      },
    },
    {
      name: 'the health check node port',
      spec: { type: 'LoadBalancer', externalTrafficPolicy: 'Local' },
      old: { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 5 },
      want: { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 5 },
    },
  ])('$name', ({ spec, old, want }) => {
    patchAllocatedValues(spec, old);
    expect(spec).toEqual(want);
  });
});

describe('initIPFamilyFields', () => {
  test.each<{ name: string; spec: ServiceSpec; old?: ServiceSpec; families: readonly IPFamily[]; want: ServiceSpec | RegExp }>([
    { name: 'nothing asked', spec: {}, families: dual, want: { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv4'] } },
    {
      name: 'PreferDualStack in a single-stack cluster',
      spec: { ipFamilyPolicy: 'PreferDualStack' },
      families: single,
      want: { ipFamilyPolicy: 'PreferDualStack', ipFamilies: ['IPv4'] },
    },
    {
      name: 'PreferDualStack in a dual-stack cluster',
      spec: { ipFamilyPolicy: 'PreferDualStack' },
      families: dual,
      want: { ipFamilyPolicy: 'PreferDualStack', ipFamilies: ['IPv4', 'IPv6'] },
    },
    {
      name: 'RequireDualStack in a single-stack cluster',
      spec: { ipFamilyPolicy: 'RequireDualStack' },
      families: single,
      want: /spec\.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services/,
    },
    {
      name: 'a family that the cluster lacks',
      spec: { ipFamilies: ['IPv6'] },
      families: single,
      want: /spec\.ipFamilies\[0\]: Invalid value: "IPv6": not configured on this cluster/,
    },
    {
      name: 'an address of a family that the cluster lacks',
      spec: { clusterIP: 'fd00::1', clusterIPs: ['fd00::1'] },
      families: single,
      want: /spec\.clusterIPs\[0\]: Invalid value: \["fd00::1"\]: IPv6 is not configured on this cluster/,
    },
    {
      name: 'the second family comes last',
      spec: { ipFamilies: ['IPv6'], ipFamilyPolicy: 'RequireDualStack' },
      families: dual,
      want: { ipFamilies: ['IPv6', 'IPv4'], ipFamilyPolicy: 'RequireDualStack' },
    },
    {
      name: 'two families without a policy',
      spec: { ipFamilies: ['IPv4', 'IPv6'] },
      families: dual,
      want: /must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified/,
    },
    {
      name: 'headless without selector is dual',
      spec: { clusterIP: 'None', clusterIPs: ['None'] },
      families: single,
      want: { clusterIP: 'None', clusterIPs: ['None'], ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv4', 'IPv6'] },
    },
    {
      name: 'headless with selector is not',
      spec: { clusterIP: 'None', clusterIPs: ['None'], selector: { a: 'b' } },
      families: single,
      want: { clusterIP: 'None', clusterIPs: ['None'], selector: { a: 'b' }, ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv4'] },
    },
    {
      name: 'families by addresses',
      spec: { clusterIP: 'fd00::1', clusterIPs: ['fd00::1'] },
      families: dual,
      want: { clusterIP: 'fd00::1', clusterIPs: ['fd00::1'], ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv6'] },
    },
    {
      name: 'two addresses of the same family',
      spec: { clusterIP: '1.1.1.1', clusterIPs: ['1.1.1.1', '1.1.1.2'], ipFamilyPolicy: 'RequireDualStack' },
      families: dual,
      want: /may specify no more than one IP for each IP family/,
    },
    {
      name: 'None beside another address',
      spec: { clusterIP: 'None', clusterIPs: ['None', '1.1.1.1'] },
      families: dual,
      want: /'None' must be the first and only value/,
    },
    {
      name: 'an address that does not match its family',
      spec: { clusterIP: '1.1.1.1', clusterIPs: ['1.1.1.1'], ipFamilies: ['IPv6'] },
      families: dual,
      want: /spec\.clusterIPs\[0\]: Invalid value: "1\.1\.1\.1": expected an IPv6 value as indicated by `ipFamilies\[0\]`/,
    },
    {
      name: 'a repeated and an unknown family',
      spec: { ipFamilies: ['IPv4', 'IPv4', 'IPv5'] },
      families: dual,
      want: /ipFamilies\[1\]: Duplicate value: "IPv4".*ipFamilies\[2\]: Unsupported value: "IPv5": supported values: "IPv4", "IPv6"/,
    },
    {
      name: 'an update keeps the previous policy',
      spec: { ipFamilies: ['IPv4', 'IPv6'] },
      old: { ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv4', 'IPv6'] },
      families: dual,
      want: { ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv4', 'IPv6'] },
    },
    {
      name: 'a change to single stack drops the second address and family',
      families: dual,
      spec: { ipFamilyPolicy: 'SingleStack', clusterIP: '1.1.1.1', clusterIPs: ['1.1.1.1', 'fd00::1'], ipFamilies: ['IPv4', 'IPv6'] },
      old: { ipFamilyPolicy: 'PreferDualStack', clusterIP: '1.1.1.1', clusterIPs: ['1.1.1.1', 'fd00::1'], ipFamilies: ['IPv4', 'IPv6'] },
      want: { ipFamilyPolicy: 'SingleStack', clusterIP: '1.1.1.1', clusterIPs: ['1.1.1.1'], ipFamilies: ['IPv4'] },
    },
    {
      name: 'omitting the second address does not drop it',
      families: dual,
      spec: { ipFamilyPolicy: 'RequireDualStack', clusterIP: '1.1.1.1', clusterIPs: ['1.1.1.1'], ipFamilies: ['IPv4', 'IPv6'] },
      old: { ipFamilyPolicy: 'RequireDualStack', clusterIP: '1.1.1.1', clusterIPs: ['1.1.1.1', 'fd00::1'], ipFamilies: ['IPv4', 'IPv6'] },
      want: /must be 'SingleStack' to release the secondary cluster IP/,
    },
    {
      name: "a PreferDualStack service is unchanged when the cluster's families change",
      families: dual,
      spec: { ipFamilyPolicy: 'PreferDualStack', clusterIPs: ['1.1.1.1'], ipFamilies: ['IPv4'] },
      old: { ipFamilyPolicy: 'PreferDualStack', clusterIPs: ['1.1.1.1'], ipFamilies: ['IPv4'] },
      want: { ipFamilyPolicy: 'PreferDualStack', clusterIPs: ['1.1.1.1'], ipFamilies: ['IPv4'] },
    },
  ])('$name', ({ spec, old, families, want }) => {
    const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: clusterIP(spec) };
    const init = (): void => initIPFamilyFields(service, old && { ...service, spec: clusterIP(old) }, families, {});
    if (want instanceof RegExp) expect(init).toThrow(want);
    else {
      init();
      expect(service.spec).toEqual(clusterIP(want));
    }
  });
});
