import { describe, expect, it } from 'vitest';
import { defineResource } from '#apiserver/registry/resource-definition';
import { type DiscoverableGroup, DiscoveryRegistry } from './discovery-registry.ts';
import { compareKubeAwareVersions } from './kube-aware-version.ts';

const widgets = (group: string, version: string) => defineResource({ group, version, kind: 'Widget', resource: 'widgets', schema: '' });
const group = (
  name: string,
  priority: number,
  versions: Record<string, number>,
  more: Partial<DiscoverableGroup> = {},
): DiscoverableGroup => ({
  group: name,
  groupPriorityMinimum: priority,
  versions: Object.entries(versions).map(([version, versionPriority]) => ({ version, versionPriority })),
  resources: Object.keys(versions).map((version) => widgets(name, version)),
  ...more,
});
const names = (registry: DiscoveryRegistry) =>
  (registry.groupList().value as { groups: { name: string; versions: { version: string }[] }[] }).groups.map(
    ({ name, versions }) => `${name}: ${versions.map(({ version }) => version).join(' ')}`,
  );

describe('DiscoveryRegistry', () => {
  it('orders groups by priority and name, versions by priority and kube-aware order', () => {
    const registry = new DiscoveryRegistry();
    registry.set('a', [
      group('b.io', 100, { v1: 1, v2: 1, v1beta1: 9 }),
      group('a.io', 100, { v1: 1 }),
      group('z.io', 200, { v1: 1 }),
      group('', 300, { v1: 1 }),
    ]);
    expect(names(registry)).toEqual(['z.io: v1', 'a.io: v1', 'b.io: v1beta1 v2 v1']);
  });

  it('merges the versions of several sources in the order of the sources', () => {
    const registry = new DiscoveryRegistry();
    registry.set('built-in', [group('a.io', 10, { v1: 5 })]);
    registry.set('custom', [group('a.io', 900, { v1: 1, v2: 1 }, { custom: true }), group('b.io', 500, { v1: 1 })]);
    expect(names(registry)).toEqual(['a.io: v1 v2', 'b.io: v1']);
    registry.set('custom', []);
    expect(names(registry)).toEqual(['a.io: v1']);
    expect(registry.group('b.io')).toBeUndefined();
  });

  it('includes group and version of custom resources in the aggregated form, and changes the ETag', () => {
    const registry = new DiscoveryRegistry();
    registry.set('built-in', [group('a.io', 10, { v1: 5 })]);
    const before = registry.aggregated('apis');
    expect(registry.aggregated('apis')).toBe(before);
    registry.set('custom', [group('c.io', 5, { v1: 1 }, { custom: true })]);
    const after = registry.aggregated('apis');
    expect(after.etag).not.toBe(before.etag);
    const kinds = (after.value as { items: { versions: { resources: { responseKind: object }[] }[] }[] }).items.map(
      ({ versions }) => versions[0]?.resources[0]?.responseKind,
    );
    expect(kinds).toEqual([
      { group: '', version: '', kind: 'Widget' },
      { group: 'c.io', version: 'v1', kind: 'Widget' },
    ]);
  });

  it('lists versions of another server without serving their resource lists', () => {
    const registry = new DiscoveryRegistry();
    const remote = { version: 'v1', freshness: 'Stale' as const };
    registry.set('aggregated', [group('r.io', 10, { v1: 1 }, { resources: [], remote: new Map([['v1', remote]]) })]);
    expect((registry.aggregated('apis').value as { items: { versions: unknown[] }[] }).items[0]?.versions).toEqual([remote]);
    expect(registry.resources('r.io', 'v1')).toBeUndefined();
  });

  it('responds to /api with the server address', () => {
    const registry = new DiscoveryRegistry();
    const addresses = [{ clientCIDR: '0.0.0.0/0', serverAddress: '10.0.0.1:6443' }];
    expect(registry.legacyVersions(addresses)).toBeUndefined();
    registry.set('built-in', [group('', 10, { v1: 5 })]);
    expect(String(registry.legacyVersions(addresses)?.json)).toBe(
      '{"kind":"APIVersions","versions":["v1"],"serverAddressByClientCIDRs":[{"clientCIDR":"0.0.0.0/0","serverAddress":"10.0.0.1:6443"}]}\n',
    );
  });
});

it('compareKubeAwareVersions orders versions like upstream', () => {
  const want = ['v10', 'v2', 'v1', 'v11beta2', 'v10beta3', 'v3beta1', 'v12alpha1', 'v11alpha2', 'foo1', 'foo10'];
  expect([...want].sort().sort(compareKubeAwareVersions)).toEqual(want);
});
