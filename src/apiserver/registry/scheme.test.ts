import { describe, expect, it } from 'vitest';
import type { ApiGroup } from './api-group.ts';
import { Scheme } from './scheme.ts';
import { schemas, thingDefinition } from './test-things.ts';

const v1 = thingDefinition();
const beta = thingDefinition({
  version: 'v1beta1',
  subresources: { scale: { kind: 'Scale', groupVersion: { group: 'autoscaling', version: 'v1' } } as never },
});
const virtual = thingDefinition({ kind: 'Review', resource: 'reviews', storagePath: undefined });
const group = (resources: ApiGroup['resources']): ApiGroup => ({
  group: 'things.example.com',
  versions: [
    { version: 'v1', versionPriority: 2 },
    { version: 'v1beta1', versionPriority: 1 },
  ],
  groupPriorityMinimum: 1,
  resources,
});
const things = { group: 'things.example.com', resource: 'things' };

describe('Scheme', () => {
  it('prefers the first served version of a resource, and knows those that are not served', () => {
    const scheme = new Scheme();
    scheme.addGroup(group([v1, beta]), schemas, group([beta]));
    expect(scheme.resource(things)).toBe(beta);
    expect(scheme.definition({ ...things, version: 'v1' })).toBe(v1);
    expect(scheme.equivalents(v1)).toEqual([beta]);
  });

  it('knows a group that is not served at all', () => {
    const scheme = new Scheme();
    scheme.addGroup(group([v1]), schemas, null);
    expect([scheme.groups, scheme.known.map(({ group: name }) => name)]).toEqual([[], ['things.example.com']]);
    expect(scheme.resource(things)).toBe(v1);
  });

  it('has the kinds of objects, lists and subresources', () => {
    const scheme = new Scheme();
    scheme.addGroup(group([v1, beta]), schemas);
    const has = (name: string, version: string, kind: string): boolean => scheme.has({ group: name, version, kind });
    expect(has('things.example.com', 'v1', 'Thing')).toBe(true);
    expect(has('things.example.com', 'v1', 'ThingList')).toBe(true);
    expect(has('autoscaling', 'v1', 'Scale')).toBe(true);
    expect(has('things.example.com', 'v2', 'Thing')).toBe(false);
  });

  it('has no equivalents of a resource that is not stored', () => {
    const scheme = new Scheme();
    scheme.addGroup(group([virtual]), schemas);
    expect(scheme.equivalents(virtual)).toEqual([]);
  });

  it.each([
    { name: '', kind: 'Pod', want: 'core.Pod' },
    { name: 'apps', kind: 'Deployment', want: 'apps.Deployment' },
    { name: 'rbac.authorization.k8s.io', kind: 'Role', want: 'rbac.Role' },
    { name: 'flowcontrol.apiserver.k8s.io', kind: 'FlowSchema', want: 'flowcontrol.FlowSchema' },
  ])('names the internal type of a kind $want', ({ name, kind, want }) => {
    expect(new Scheme().internalName({ group: name, version: 'v1', kind })).toBe(want);
  });

  it('rejects a second group of a name, and the tables of an unknown one', () => {
    const scheme = new Scheme();
    scheme.addGroup(group([v1]), schemas);
    expect(() => scheme.addGroup(group([beta]), schemas)).toThrow('group "things.example.com" is added twice');
    expect(() => scheme.schemasOf('apps')).toThrow('no group "apps"');
    expect(scheme.schemasOf('things.example.com')).toBe(schemas);
  });
});
