import { isSelectable } from '#apiserver/endpoints/handlers/selection';
import { describe, expect, it } from 'vitest';
import { DiscoveryRegistry } from '#apiserver/endpoints/discovery/discovery-registry';
import type { ApiGroup } from '#apiserver/registry/api-group';
import type { ResourceDefinition } from '#apiserver/registry/resource-definition';
import { ResourceConfig } from '#apiserver/server/resource-config';
import { groups } from '#kubernetes/apis/groups';
import { schema, scheme, tables } from '#kubernetes/schema/schema';

interface ServedSubresource {
  kind: string;
  verbs: string[];
  aggKind?: string;
}
interface ServedResource {
  kind: string;
  singular: string;
  namespaced: boolean;
  verbs: string[];
  shortNames?: string[];
  categories?: string[];
  storageVersionHash?: string;
  sub?: Record<string, ServedSubresource>;
}

/** Group versions that the delegate servers serve. */
const others = ['apiextensions.k8s.io/v1', 'apiregistration.k8s.io/v1'];
const groupVersion = ({ group, version }: { group: string; version: string }) => (group ? `${group}/${version}` : version);
const features = { enabled: () => true };
const servedGroups = new ResourceConfig().served(groups, features);
const resources = servedGroups.flatMap((group) => group.resources);
const off = groups.flatMap((group) => group.resources).filter((resource) => !resources.includes(resource));
const pathOf = (resource: ResourceDefinition) => `${groupVersion(resource)}/${resource.resource}`;
const byPath = new Map(resources.map((resource) => [pathOf(resource), resource]));
const own = <T>(table: Record<string, T>) => Object.entries(table).filter(([path]) => byPath.has(path));

function kindOf(resource: ResourceDefinition, name: string): { kind: string; aggKind: string | undefined } {
  const subresource = resource.subresources[name];
  if (subresource?.kind === undefined) return { kind: resource.kind, aggKind: undefined };
  const { kind, groupVersion: other } = subresource;
  return { kind, aggKind: other && `${groupVersion(other)}/${kind}` };
}

describe('resource definitions compared with the real server', () => {
  const served = tables.table<Record<string, Record<string, ServedResource>>>('drift/resources');

  const offByDefault = tables.table<typeof served>('drift/off-by-default');
  const recorded = { ...served, ...offByDefault };

  it('define every resource, and no more', () => {
    const all = Object.entries(served)
      .filter(([gv]) => !others.includes(gv))
      .flatMap(([gv, list]) => Object.keys(list).map((name) => `${gv}/${name}`));
    expect([...byPath.keys()].sort()).toEqual(all.sort());
  });

  it('define every resource that is off by default, and no more', () => {
    const all = Object.entries(offByDefault).flatMap(([gv, list]) => Object.keys(list).map((name) => `${gv}/${name}`));
    expect(off.map(pathOf).sort()).toEqual(all.sort());
  });

  it.each([...resources, ...off].map((resource) => [pathOf(resource), resource] as const))('%s', (path, resource) => {
    const { sub = {}, ...want } = recorded[groupVersion(resource)]![resource.resource]!;
    expect({
      kind: resource.kind,
      singular: resource.singular,
      namespaced: resource.namespaced,
      verbs: resource.verbs,
      ...(resource.shortNames.length > 0 && { shortNames: resource.shortNames }),
      ...(resource.categories.length > 0 && { categories: resource.categories }),
      ...(resource.storageVersionHash && { storageVersionHash: resource.storageVersionHash }),
    }).toEqual(want);
    const subresources = Object.keys(resource.subresources).map((name) => [
      name,
      { ...kindOf(resource, name), verbs: resource.subresources[name]?.verbs },
    ]);
    expect(Object.fromEntries(subresources)).toEqual(
      Object.fromEntries(Object.entries(sub).map(([name, { kind, verbs, aggKind }]) => [name, { kind, verbs, aggKind }])),
    );
    expect(scheme.typeName(groupVersion(resource), resource.kind), path).toBe(resource.schema);
    expect(schema.struct(resource.schema).fields.has('metadata')).toBe(true);
  });

  it("has the real server's storage versions", () => {
    const storage = own(tables.table<Record<string, { key: string; apiVersion: string; lease?: boolean }>>('drift/storage'));
    expect(storage.length).toBeGreaterThan(50);
    for (const [path, { key, apiVersion, lease }] of storage) {
      const resource = byPath.get(path)!;
      expect(`/registry/${resource.storagePath}${resource.namespaced ? '/<namespace>' : ''}/<name>`, path).toBe(key);
      expect(groupVersion(resource.storageVersion?.version ?? resource), path).toBe(apiVersion);
      expect(resource.ttlSeconds, path).toBe(lease ? 3600 : undefined);
    }
    expect(resources.filter((resource) => resource.storagePath !== undefined)).toHaveLength(storage.length);
  });

  it("has the real server's columns", () => {
    const columns = own(tables.table<Record<string, [string, string, string, number][]>>('drift/columns'));
    expect(columns.length).toBeGreaterThan(50);
    for (const [path, want] of columns) {
      const shown = byPath.get(path)!.columns.filter((column) => !column.cellOnly);
      expect(
        shown.map(({ name, type, format, priority }) => [name, type, format, priority]),
        path,
      ).toEqual(want);
    }
  });

  it("accepts the real server's field labels, and rejects others with its message", () => {
    const selectors = own(
      tables.table<Record<string, { labels: string[]; unsupported: [number, string, string] }>>('drift/field-selectors'),
    );
    expect(selectors.length).toBeGreaterThan(50);
    const known = [...new Set(selectors.flatMap(([, { labels }]) => labels))].sort();
    for (const [path, { labels, unsupported }] of selectors) {
      const resource = byPath.get(path)!;
      const own = Object.keys({ ...resource.selectableFields, ...resource.fieldLabels }).filter((label) => !known.includes(label));
      expect([...known, ...own].filter((label) => isSelectable(resource, label)).sort(), path).toEqual(labels);
      expect(
        resource.unsupportedField?.('bogus') ?? '"bogus" is not a known field selector: only "metadata.name", "metadata.namespace"',
        path,
      ).toBe(unsupported[2]);
    }
  });

  it("has the real server's priorities", () => {
    interface Version {
      gv: string;
      groupPriorityMinimum: number | null;
      versionPriority: number | null;
    }
    const want = tables.table<{ groupVersions: Version[] }>('discovery').groupVersions.filter(({ gv }) => !others.includes(gv));
    const found = servedGroups.flatMap(({ group, versions, groupPriorityMinimum }: ApiGroup) =>
      versions.map(({ version, versionPriority }) => ({ gv: groupVersion({ group, version }), groupPriorityMinimum, versionPriority })),
    );
    expect(found).toEqual(want.map(({ gv, groupPriorityMinimum, versionPriority }) => ({ gv, groupPriorityMinimum, versionPriority })));
  });
});

describe('discovery of the built-in groups', () => {
  const discovery = new DiscoveryRegistry();
  discovery.set('kubernetes', servedGroups);
  const parsed = (document: { json: Buffer } | undefined) => JSON.parse(String(document?.json));

  it("serves the real server's ETag at /api", () => {
    expect(discovery.aggregated('api').etag?.slice(0, 16)).toBe('4D7E1BED90B364BC');
  });

  it("serves the real server's resource list", () => {
    expect(parsed(discovery.resources('batch', 'v1')).resources.slice(0, 2)).toEqual([
      {
        name: 'cronjobs',
        singularName: 'cronjob',
        namespaced: true,
        kind: 'CronJob',
        verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
        shortNames: ['cj'],
        categories: ['all'],
        storageVersionHash: 'sd5LIXh4Fjs=',
      },
      { name: 'cronjobs/status', singularName: '', namespaced: true, kind: 'CronJob', verbs: ['get', 'patch', 'update'] },
    ]);
    expect(parsed(discovery.resources('', 'v1')).resources).toContainEqual({
      name: 'pods/eviction',
      singularName: '',
      namespaced: true,
      group: 'policy',
      version: 'v1',
      kind: 'Eviction',
      verbs: ['create'],
    });
  });

  it('serves a group', () => {
    expect(String(discovery.group('apps')?.json)).toBe(
      '{"kind":"APIGroup","apiVersion":"v1","name":"apps","versions":[{"groupVersion":"apps/v1","version":"v1"}],"preferredVersion":{"groupVersion":"apps/v1","version":"v1"}}\n',
    );
    expect(discovery.group('')).toBeUndefined();
    expect(discovery.resources('apps', 'v2')).toBeUndefined();
  });
});

describe('the schema tables', () => {
  it('compile without dangling references', () => {
    const files = Object.keys(tables.table<Record<string, string>>('packages'));
    expect(files.length).toBeGreaterThan(30);
    for (const file of files) {
      for (const [name, definition] of Object.entries(tables.schema(file))) {
        const type = schema.type(`${file}.${name}`);
        if (type.kind !== 'struct') continue;
        for (const required of definition.required ?? []) expect(type.fields.has(required), `${file}.${name}.${required}`).toBe(true);
      }
    }
  });

  it('describe every served kind', () => {
    for (const { schema: type } of resources) expect(tables.description(type)?.[0], type).toMatch(/\w/);
  });
});
