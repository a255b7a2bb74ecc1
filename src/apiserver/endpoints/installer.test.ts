import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FeatureGates } from '#apiserver/base/feature-gates';
import type { EndpointHandler } from '#apiserver/endpoints/handlers/resource-endpoint';
import type { ResourceDefinition } from '#apiserver/registry/resource-definition';
import { Scheme } from '#apiserver/registry/scheme';
import { StorageFactory } from '#apiserver/registry/storage-factory';
import { schemas, thingDefinition } from '#apiserver/registry/test-things';
import { FakeStorageWithFeed } from '#apiserver/storage/fake-storage';
import type { GroupVersionEndpoints } from './installed-endpoint.ts';
import { Installer, type InstallerOptions, type VerbHandlers } from './installer.ts';

const verbNames = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'] as const;
/** A handler for each verb, recognized by its name. */
const verbs = Object.fromEntries(
  verbNames.map((name) => [name, Object.defineProperty(() => {}, 'name', { value: name })]),
) as unknown as VerbHandlers;
const special = Object.defineProperty(() => {}, 'name', { value: 'special' }) as EndpointHandler;

let factory: StorageFactory;
beforeEach(() => {
  factory = new StorageFactory(new FakeStorageWithFeed());
});
afterEach(() => factory.close());

interface Setting {
  readonly resources?: readonly ResourceDefinition[];
  readonly versions?: readonly string[];
  readonly handlers?: Readonly<Record<string, Readonly<Record<string, EndpointHandler>>>>;
  readonly gates?: readonly string[];
}

/** Installs the group of things. */
function install({ resources = [thingDefinition()], versions = ['v1'], handlers = {}, gates = [] }: Setting = {}) {
  const group = {
    group: 'things.example.com',
    versions: versions.map((version, at) => ({ version, versionPriority: 10 - at })),
    groupPriorityMinimum: 1,
    resources: [...resources],
  };
  const scheme = new Scheme();
  scheme.addGroup(group, schemas);
  const options: InstallerOptions = {
    scheme,
    storage: factory,
    verbs: { verbs },
    special: { get: (key) => handlers[key] },
    features: { enabled: (gate: string) => gates.includes(gate) } as unknown as FeatureGates,
    capabilities: new Set(),
  };
  return new Installer(options).install(group);
}

const verbsOf = (endpoints: GroupVersionEndpoints | undefined, path: string): string[] =>
  Array.from(endpoints?.get(path)?.verbs ?? [], ([verb, handler]) => (handler.name === verb ? verb : `${verb}: ${handler.name}`));
const inV1 = (setting?: Setting): GroupVersionEndpoints | undefined => install(setting).get('things.example.com/v1');

describe('a resource', () => {
  it('has the handlers of its verbs', () => {
    const endpoints = inV1({ resources: [thingDefinition({ verbs: ['get', 'list'] })] });
    expect([...(endpoints?.keys() ?? [])]).toEqual(['things']);
    expect(verbsOf(endpoints, 'things')).toEqual(['get', 'list']);
  });

  it('may have handlers of its own', () => {
    const setting = {
      resources: [thingDefinition({ verbs: ['create', 'get'] })],
      handlers: { 'things.example.com/things/': { create: special } },
    };
    expect(verbsOf(inV1(setting), 'things')).toEqual(['create: special', 'get']);
  });

  it('with a verb that nothing handles is refused', () => {
    expect(() => install({ resources: [thingDefinition({ verbs: ['read'] as never })] })).toThrow('installer: no handler for verb read');
  });

  it('in a version that its group does not declare is refused', () => {
    expect(() => install({ resources: [thingDefinition({ version: 'v2' })] })).toThrow(
      'installer: things has version things.example.com/v2, which its group does not declare',
    );
  });

  it('in two versions has one cache, and a kind in each', () => {
    const groups = install({ resources: [thingDefinition(), thingDefinition({ version: 'v2' })], versions: ['v1', 'v2'] });
    const [first, second] = ['v1', 'v2'].map((version) => groups.get(`things.example.com/${version}`)?.get('things')?.endpoint);
    expect(second?.store.cacher).toBe(first?.store.cacher);
    expect([first?.kind.version, second?.kind.version]).toEqual(['v1', 'v2']);
    expect(second?.admission.resource).toEqual({ group: 'things.example.com', version: 'v2', resource: 'things' });
  });
});

describe('a subresource', () => {
  const status = { verbs: ['get', 'update'], strategy: {} } as const;

  it('without a kind has the verbs of its definition and the cache of its parent', () => {
    const endpoints = inV1({ resources: [thingDefinition({ subresources: { status } })] });
    expect(verbsOf(endpoints, 'things/status')).toEqual(['get', 'update']);
    const [parent, child] = ['things', 'things/status'].map((path) => endpoints?.get(path)?.endpoint);
    expect([child?.subresource, child?.store.cacher === parent?.store.cacher]).toEqual(['status', true]);
  });

  it('without a kind inherits the rule for unconditional updates', () => {
    const strategies = [true, false, undefined].map((allowUnconditionalUpdate) => {
      const strategy = allowUnconditionalUpdate === undefined ? {} : { allowUnconditionalUpdate };
      const definition = thingDefinition({ strategy, subresources: { status } });
      return inV1({ resources: [definition] })?.get('things/status')?.endpoint.strategy?.allowUnconditionalUpdate;
    });
    expect(strategies).toEqual([true, false, undefined]);
  });

  it('with a kind of its own has the handlers of that kind, and is absent without them', () => {
    const resources = [
      thingDefinition({
        subresources: { scale: { kind: 'Scale', groupVersion: { group: 'autoscaling', version: 'v1' }, verbs: ['get'] } as never },
      }),
    ];
    expect(inV1({ resources })?.has('things/scale')).toBe(false);
    const endpoints = inV1({ resources, handlers: { 'things.example.com/things/scale': { get: special } } });
    expect(verbsOf(endpoints, 'things/scale')).toEqual(['get: special']);
    expect(endpoints?.get('things/scale')?.endpoint.kind).toEqual({ group: 'autoscaling', version: 'v1', kind: 'Scale' });
  });
});

it.each([
  { gates: [], owned: true },
  { gates: ['ResetColor'], owned: false },
])('fields that a write resets are not owned while the gates $gates are on: $owned', ({ gates, owned }) => {
  const strategy = { resetFields: [['spec', 'color']], resetFieldsGate: 'ResetColor' };
  const endpoint = inV1({ resources: [thingDefinition({ strategy: strategy as never })], gates })?.get('things')?.endpoint;
  const object = { apiVersion: 'things.example.com/v1', kind: 'Thing', metadata: { name: 'a' }, spec: { color: 'red' } };
  const written = endpoint?.fieldManager.update(undefined, object, 'jane');
  expect(JSON.stringify(written?.metadata).includes('f:color')).toBe(owned);
});

it('answers in CBOR only with its gate', () => {
  const typesWith = (gates: string[]): readonly string[] | undefined => inV1({ gates })?.get('things')?.endpoint.restrictions.mediaTypes;
  expect(typesWith([])).not.toContain('application/cbor');
  expect(typesWith(['CBORServingAndStorage'])).toContain('application/cbor');
});
