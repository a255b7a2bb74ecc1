import { leastThreadTime } from '#apimachinery/testing/least-thread-time';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StatusError } from '#apimachinery/api/errors';
import type { FieldsV1, KubeObject, ManagedFieldsEntry } from '#apimachinery/meta/types';
import { deepCopy, deepCopySteps } from '#apimachinery/runtime/copy';
import { Float64 } from '#apimachinery/runtime/numbers';
import type { StructType, Type } from '#apimachinery/runtime/schema';
import { atOnce } from '#apimachinery/runtime/steps';
import { type FieldManager, type FieldManagerOptions, newFieldManager } from './field-manager.ts';
import { FieldSet } from './field-set.ts';
import { registry, thingType } from './fixtures.ts';
import { ignoreManagedFieldsTimestamps } from './ignore-timestamps.ts';
import { managerOrUserAgent } from './manager-name.ts';
import { isResetManagedFields, validateManagedFields } from './managers.ts';
import { formatPath } from './path-element.ts';
import { ScaleHandler } from './scale-handler.ts';

let second = 0;
const clock = () => `2026-01-01T00:00:${String(second++).padStart(2, '0')}Z`;
const make = (options: Partial<FieldManagerOptions> = {}): FieldManager => {
  second = 0;
  return newFieldManager({ type: thingType, groupVersion: 'test/v1', kind: 'Thing', clock, ...options });
};

const thing = (spec: object = {}, metadata: object = {}, rest: object = {}): KubeObject =>
  ({ apiVersion: 'test/v1', kind: 'Thing', metadata: { name: 'n', ...metadata }, spec: { items: null, ...spec }, ...rest }) as KubeObject;
const config = (spec: object = {}, metadata: object = {}, rest: object = {}): KubeObject =>
  ({ apiVersion: 'test/v1', kind: 'Thing', metadata: { name: 'n', ...metadata }, spec, ...rest }) as KubeObject;
const empty = (): KubeObject => ({ apiVersion: 'test/v1', kind: 'Thing', metadata: {} });
const stored = (object: KubeObject): KubeObject => ({ ...object, metadata: { ...object.metadata, uid: 'u' } });
const fieldsOf = (fields: FieldsV1 | undefined): string => [...FieldSet.fromFieldsV1(fields)].map(formatPath).sort().join(' ');
/** Formats each entry as a line: manager, operation, time, fields. */
const owners = (object: KubeObject | undefined): string[] =>
  (object?.metadata.managedFields ?? []).map(({ manager, operation, subresource, time, fieldsV1, apiVersion }) =>
    [
      manager + (subresource ? `/${subresource}` : ''),
      operation,
      ...(apiVersion === 'test/v1' ? [] : [apiVersion]),
      time?.slice(17, 19) ?? '-',
      fieldsOf(fieldsV1),
    ].join(' '),
  );
const entry = (manager: string, fieldsV1: object, more: object = {}): ManagedFieldsEntry => ({
  manager,
  operation: 'Update',
  apiVersion: 'test/v1',
  fieldsType: 'FieldsV1',
  fieldsV1: fieldsV1 as FieldsV1,
  ...more,
});

describe('update', () => {
  it('tracks an object from its creation', () => {
    const made = make().update(
      undefined,
      thing({ replicas: 1, data: { b: '1', a: '2' }, paused: false }, { namespace: 'x', labels: { l: '1' } }),
      'me',
    );
    expect(owners(made)).toEqual(['me Update 00 .metadata.labels .metadata.labels.l .spec.data .spec.data.a .spec.data.b .spec.replicas']);
    expect(Object.keys(made.metadata.managedFields![0]!)).toEqual(['manager', 'operation', 'apiVersion', 'time', 'fieldsType', 'fieldsV1']);
    expect(Object.keys(made.metadata.managedFields![0]!.fieldsV1!['f:spec']!['f:data']!)).toEqual(['.', 'f:a', 'f:b']);
  });

  it('does not start tracking on an update', () => {
    expect(owners(make().update(stored(thing()), stored(thing({ replicas: 1 })), 'me'))).toEqual([]);
  });

  it('assigns changed fields to the updater, and removed ones to no manager', () => {
    const manager = make();
    const a = stored(manager.update(undefined, thing({ replicas: 1, data: { a: '1', b: '1', c: '1' } }), 'one'));
    const b = manager.update(a, thing({ replicas: 2, data: { a: '1', b: '2' } }, { uid: 'u' }), 'two');
    expect(owners(b)).toEqual(['one Update 00 .spec.data .spec.data.a', 'two Update 01 .spec.data.b .spec.replicas']);
    const c = manager.update(b, { ...b, spec: { ...(b.spec as object), data: { a: '3', b: '2' } } }, 'one');
    expect(owners(c)).toEqual(['two Update 01 .spec.data.b .spec.replicas', 'one Update 02 .spec.data .spec.data.a']);
  });

  it('keeps entries if nothing changes', () => {
    const manager = make();
    const live = stored(manager.update(undefined, thing({ data: { a: '1' } }), 'one'));
    const next = deepCopy(live);
    expect(manager.update(live, next, 'two').metadata.managedFields).toBe(live.metadata.managedFields);
    delete next.metadata.managedFields;
    expect(manager.update(live, next, 'two').metadata.managedFields).toBe(live.metadata.managedFields);
    expect(manager.update(live, live, 'two')).toBe(live);
  });

  it('changes neither input', () => {
    const manager = make();
    const live = stored(manager.update(undefined, thing({ data: { a: '1' } }), 'one'));
    const next = { ...deepCopy(live), spec: { items: null, data: { a: '2' } } };
    const before = deepCopy({ live, next });
    manager.update(live, next, 'two');
    expect({ live, next }).toEqual(before);
  });

  it('separates subresources, and resets fields that they do not write', () => {
    const options = { resetFields: FieldSet.of(['f:status']) };
    const main = make(options);
    const live = stored(main.update(undefined, thing({ replicas: 1 }, {}, { status: { phase: 'x' } }), 'me'));
    expect(owners(live)).toEqual(['me Update 00 .spec.replicas']);
    const status = make({ subresource: 'status', resetFields: FieldSet.of(['f:spec']) });
    const after = status.update(
      live,
      {
        ...live,
        metadata: { ...live.metadata, managedFields: [] },
        spec: { replicas: 5, items: null },
        status: { phase: 'y', replicas: 0 },
      },
      'me',
    );
    expect(owners(after)).toEqual(['me Update 00 .spec.replicas', 'me/status Update 00 .status.phase']);
  });

  it.each([
    { name: 'an empty list', given: [], want: [] },
    { name: 'a list with an empty entry', given: [{}], want: [] },
    { name: 'no list', given: undefined, want: ['one Update 00 .spec.data .spec.data.a', 'two Update 01 .spec.replicas'] },
    {
      name: 'its own entries',
      given: [entry('x', { 'f:spec': { 'f:replicas': {}, 'f:data': { 'f:a': {} } } })],
      want: ['x Update - .spec.data.a', 'two Update 01 .spec.replicas'],
    },
    {
      name: 'an unknown fieldsType',
      given: [entry('x', {}, { fieldsType: 'FieldsV2' })],
      want: ['one Update 00 .spec.data .spec.data.a', 'two Update 01 .spec.replicas'],
    },
    {
      name: 'an unknown operation',
      given: [entry('x', {}, { operation: 'Frob' })],
      want: ['one Update 00 .spec.data .spec.data.a', 'two Update 01 .spec.replicas'],
    },
    {
      name: 'malformed fields',
      given: [entry('x', { nope: {} })],
      want: ['one Update 00 .spec.data .spec.data.a', 'two Update 01 .spec.replicas'],
    },
  ])('handles a request with $name', ({ given, want }) => {
    const manager = make();
    const live = stored(manager.update(undefined, thing({ data: { a: '1' } }), 'one'));
    const next = thing({ data: { a: '1' }, replicas: 3 }, { uid: 'u', ...(given && { managedFields: given }) });
    expect(owners(manager.update(live, next, 'two'))).toEqual(want);
  });

  it('reads corrupt stored entries as absent', () => {
    const live = thing({}, { uid: 'u', managedFields: [entry('x', {}, { apiVersion: '' })] });
    expect(owners(make().update(live, thing({ replicas: 1 }, { uid: 'u' }), 'me'))).toEqual([]);
  });

  it('sets no managedFields on an untrackable object', () => {
    const deep = JSON.parse(`${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`) as unknown;
    expect(make().update(undefined, thing({ any: deep }, { managedFields: [entry('x', {})] }), 'me').metadata).toEqual({ name: 'n' });
  });

  it('keeps ten updaters and merges the oldest', () => {
    const manager = make();
    let live = stored(manager.update(undefined, thing({ data: { k0: '0' } }), 'm0'));
    for (let i = 1; i < 13; i++)
      live = manager.update(
        live,
        { ...live, spec: { items: null, data: { ...(live.spec as { data: object }).data, [`k${i}`]: '1' } } },
        `m${i}`,
      );
    expect(owners(live)).toHaveLength(10);
    expect(owners(live)[0]).toBe('ancient-changes Update 03 .spec.data .spec.data.k0 .spec.data.k1 .spec.data.k2 .spec.data.k3');
  });

  it('merges thousands of updates into one in linear time', () => {
    const count = 20_000;
    const managedFields = Array.from({ length: count }, (_, i) => entry(`m${i}`, { 'f:spec': { 'f:data': { [`f:k${i}`]: {} } } }));
    const data = Object.fromEntries(managedFields.map((_, i) => [`k${i}`, '1']));
    const write = (): KubeObject => make().update(stored(thing({ data })), thing({ data, replicas: 1 }, { managedFields }), 'me');
    const after = write();
    expect(leastThreadTime(write, 6_000)).toBeLessThan(6_000);
    expect(after.metadata.managedFields).toHaveLength(10);
    const ancient = after.metadata.managedFields?.find(({ manager }) => manager === 'ancient-changes')?.fieldsV1;
    expect([...FieldSet.fromFieldsV1(ancient as FieldsV1)].length).toBe(count - 8);
  });

  it('converts for an owner of another version', () => {
    const convert = (object: KubeObject, version: string): KubeObject | undefined => {
      const { replicas, size, items: _, ...spec } = object.spec as { replicas?: number; size?: number; items?: unknown };
      if (version === 'test/v2') return { ...object, apiVersion: version, spec: { ...spec, size: replicas } };
      return version === 'test/v1' ? { ...object, apiVersion: version, spec: { ...spec, replicas: size, items: null } } : undefined;
    };
    const manager = make({ convert, typeFor: (version) => (version === 'test/v2' ? registry.struct('test_v2.Thing') : undefined) });
    const managedFields = [
      entry('new', { 'f:spec': { 'f:size': {}, 'f:data': { 'f:a': {} } } }, { apiVersion: 'test/v2' }),
      entry('old', { 'f:spec': { 'f:replicas': {} } }, { apiVersion: 'test/v0' }),
    ];
    const live = thing({ replicas: 1, data: { a: '1' } }, { uid: 'u', managedFields });
    const after = manager.update(live, thing({ replicas: 2, data: { a: '1' } }, { uid: 'u' }), 'me');
    expect(owners(after)).toEqual(['new Update test/v2 - .spec.data', 'me Update 00 .spec.replicas']);
  });
});

/** Copies an object with the key lists of wide maps cached, as for large objects from clients. */
const withNotedKeys = (object: KubeObject): KubeObject => atOnce(deepCopySteps(object));

describe('updateSteps', () => {
  const keys = Array.from({ length: 5_000 }, (_, i) => `k${(i * 7_919) % 5_000}`);
  const map = (from: number, to: number, value: unknown) => Object.fromEntries(keys.slice(from, to).map((key) => [key, value]));
  const wide = (from: number, to: number, value: string) =>
    thing({ replicas: 1, data: map(from, to, value) }, { labels: map(from, to, value) });

  const items = (from: number, to: number, value: string) => keys.slice(from, to).map((name) => ({ name, value }));
  const long = (from: number, to: number, value: string) =>
    thing({ items: items(from, to, value) }, { finalizers: keys.slice(from, to).map((key) => `x.y/${key}`) });
  const twice = (object: KubeObject): KubeObject => {
    const spec = object['spec'] as { items: object[] };
    return { ...object, spec: { ...spec, items: [...spec.items, ...spec.items.slice(0, 100)] } };
  };
  const ports = (from: number, to: number, name: string) => Array.from({ length: to - from }, (_, i) => ({ port: from + i, name }));
  const deepList = (from: number, to: number, value: string) =>
    thing({ items: [{ name: 'a' }, { name: 'b', ports: ports(from, to, value) }] });

  it.each<[name: string, live: KubeObject | undefined, next: KubeObject]>([
    ['a new object', undefined, wide(0, 5_000, 'a')],
    ['other keys and values', wide(0, 4_000, 'a'), { ...wide(1_000, 5_000, 'b') }],
    ['all values', wide(0, 5_000, 'a'), wide(0, 5_000, 'b')],
    ['one value', wide(0, 5_000, 'a'), thing({ replicas: 1, data: { ...map(0, 5_000, 'a'), k7: 'b' } }, { labels: map(0, 5_000, 'a') })],
    ['no value', wide(0, 5_000, 'a'), wide(0, 5_000, 'a')],
    ['all keys removed', wide(0, 5_000, 'a'), thing({ replicas: 1 })],
    ['an empty map instead of many keys', thing({ replicas: 2, data: {} }, { labels: {} }), wide(0, 5_000, 'a')],
    ['new long lists', undefined, long(0, 3_000, 'a')],
    ['long lists beside absent ones', thing({ replicas: 1 }), long(0, 3_000, 'a')],
    ['long lists beside empty ones', thing({ items: [] }, { finalizers: [] }), long(0, 3_000, 'a')],
    ['partly changed long lists', long(0, 2_500, 'a'), long(500, 3_000, 'b')],
    ['unchanged long lists', long(0, 3_000, 'a'), long(0, 3_000, 'a')],
    ['empty lists instead of long ones', long(0, 3_000, 'a'), thing({ items: [] }, { finalizers: [] })],
    ['no lists instead of long ones', long(0, 3_000, 'a'), thing({ replicas: 1 })],
    ['duplicate items', long(0, 3_000, 'a'), twice(long(0, 3_000, 'b'))],
    ['a long list in an item', deepList(0, 2_000, 'a'), deepList(1_000, 3_000, 'b')],
    ['a long list in a new item', undefined, deepList(0, 2_000, 'a')],
  ])('has the result of update: %s', (_name, live, next) => {
    const before = live && stored(make().update(undefined, live, 'one'));
    const expected = make().update(before, next, 'two').metadata.managedFields;
    for (const as of [(object: KubeObject) => object, withNotedKeys]) {
      const steps = make().updateSteps(before && as(before), as(next), 'two');
      let turns = 0;
      let step = steps.next();
      for (; !step.done; step = steps.next()) turns++;
      expect(JSON.stringify(step.value.metadata.managedFields)).toBe(JSON.stringify(expected));
      expect(turns).toBeGreaterThan(5);
    }
  });
});

describe('applySteps', () => {
  const keys = Array.from({ length: 3_000 }, (_, i) => `k${(i * 7_919) % 3_000}`);
  const wide = (from: number, to: number, value: string): object => ({
    data: Object.fromEntries(keys.slice(from, to).map((key) => [key, value])),
    items: keys.slice(from, to).map((name) => ({ name, value })),
    any: { deep: Object.fromEntries(keys.slice(from, to).map((key) => [key, { value }])) },
  });

  it.each<[name: string, live: object | undefined, applied: object]>([
    ['to nothing', undefined, wide(0, 3_000, 'a')],
    ['the same configuration again', wide(0, 3_000, 'a'), wide(0, 3_000, 'a')],
    ['other values', wide(0, 3_000, 'a'), wide(0, 3_000, 'b')],
    ['other keys and items', wide(0, 2_000, 'a'), wide(1_000, 3_000, 'b')],
    ['a large configuration after a small one', wide(0, 3_000, 'a'), { data: { k7: 'b' } }],
    ['an empty configuration', wide(0, 3_000, 'a'), {}],
  ])('has the result of apply: %s', (_name, live, applied) => {
    const first = live && make().apply(empty(), config(live), 'me', false);
    const before = first ? stored(first) : empty();
    const other = live
      ? make().update(before, { ...before, spec: { ...(before['spec'] as object), replicas: 3 } } as KubeObject, 'other')
      : before;
    const expected = make().apply(other, config(applied), 'me', true);
    for (const as of [(object: KubeObject) => object, withNotedKeys]) {
      const steps = make().applySteps(as(other), as(config(applied)), 'me', true);
      let turns = 0;
      let step = steps.next();
      for (; !step.done; step = steps.next()) turns++;
      expect(step.value).toEqual(expected);
      expect(JSON.stringify(step.value?.metadata.managedFields)).toBe(JSON.stringify(expected?.metadata.managedFields));
      expect(turns).toBeGreaterThan(5);
    }
  });
});

describe('custom resources', () => {
  const text = { kind: 'scalar', scalar: 'string' } as const;
  const struct = (name: string, fields: Readonly<Record<string, Type>>, preserveUnknownFields = false): StructType => ({
    kind: 'struct',
    name: `x.test/v1/Widget${name}`,
    goName: 'Widget',
    atomic: false,
    preserveUnknownFields,
    fields: new Map(
      Object.entries(fields).map(([field, type]) => [
        field,
        { name: field, type, required: false, ptr: true, always: false, omitzero: false, default: undefined, atomic: false },
      ]),
    ),
  });
  const widget = struct('', {
    apiVersion: text,
    kind: text,
    metadata: registry.struct('meta_v1.ObjectMeta'),
    spec: struct('.spec', {
      size: { kind: 'scalar', scalar: 'int64' },
      list: { kind: 'list', items: text, listType: 'atomic', listMapKeys: [] },
      map: { kind: 'map', values: struct('.spec.map', { a: text }), mapType: 'granular' },
      free: struct('.spec.free', {}, true),
      port: { kind: 'scalar', scalar: 'intOrString' },
    }),
  });
  const manager = newFieldManager({ type: widget, groupVersion: 'test/v1', kind: 'Widget', clock });
  const object = (spec: object): KubeObject => ({ apiVersion: 'test/v1', kind: 'Widget', metadata: { name: 'a' }, spec });

  it('own every container of a request, and zero values', () => {
    const made = manager.update(undefined, object({ size: 0, list: [], map: { k: { a: '' } }, free: { any: { thing: 1 } } }), 'me');
    expect(JSON.stringify(made.metadata.managedFields![0]!.fieldsV1)).toBe(
      '{"f:spec":{".":{},"f:free":{".":{},"f:any":{".":{},"f:thing":{}}},"f:list":{},"f:map":{".":{},"f:k":{".":{},"f:a":{}}},"f:size":{}}}',
    );
  });

  it.each([
    [['x'], 'array'],
    [{ a: 1 }, 'object'],
  ])('apply accepts %j for an int-or-string, which only decoding rejects', (port, kind) => {
    const refused = `json: cannot unmarshal ${kind} into Go value of type int32`;
    expect(failure(() => manager.apply(object({}), object({ port }), 'me', false))).toMatch(refused);
  });

  it('do not own another value that is equal to a number', () => {
    const live = manager.update(undefined, object({ size: 1, free: { n: 1 } }), 'me');
    const float = new Float64(1, '1.0');
    const next = manager.update(live, { ...live, spec: { size: float, free: { n: float } } }, 'other');
    expect(next.metadata.managedFields?.map(({ manager: name }) => name)).toEqual(['me']);
  });

  it('apply rejects unknown metadata at a root that preserves unknown fields', () => {
    const root = struct('', { apiVersion: text, kind: text, metadata: registry.struct('meta_v1.ObjectMeta') }, true);
    const open = newFieldManager({ type: root, groupVersion: 'test/v1', kind: 'Widget', clock });
    const applied = { ...object({ any: 1 }), metadata: { name: 'a', nope: 1 } } as KubeObject;
    expect(failure(() => open.apply(object({}), applied, 'me', false))).toMatch('.metadata.nope: field not declared in schema');
  });

  it('apply accepts unknown fields only where they are preserved', () => {
    expect(failure(() => manager.apply(object({}), object({ nope: 1 }), 'me', false))).toMatch('.spec.nope: field not declared in schema');
    expect(fieldsOf(manager.apply(object({}), object({ free: { any: [1] } }), 'me', false)?.metadata.managedFields?.[0]?.fieldsV1)).toBe(
      '.spec.free.any',
    );
  });
});

const failure = (body: () => unknown): unknown => {
  try {
    body();
  } catch (error) {
    return error instanceof StatusError ? error.status : (error as Error).message;
  }
  return undefined;
};

describe('apply', () => {
  it('creates an object and owns the applied fields', () => {
    const made = make().apply(
      empty(),
      config({ replicas: 1, paused: false, data: { a: '1' }, limits: { cpu: '1000m' } }, { labels: {} }),
      'app',
      false,
    );
    expect(owners(made)).toEqual(['app Apply 00 .metadata.labels .spec.data.a .spec.limits.cpu .spec.paused .spec.replicas']);
    expect(made).toMatchObject({ metadata: { name: 'n' }, spec: { replicas: 1, data: { a: '1' }, limits: { cpu: '1' } } });
    expect(made?.spec).not.toHaveProperty('paused');
  });

  it('rejects fields of other owners, takes them by force, shares equal ones', () => {
    const manager = make();
    const one = manager.apply(empty(), config({ data: { a: '1', b: '1' }, replicas: 1 }), 'one', false)!;
    expect(failure(() => manager.apply(one, config({ data: { a: '2' }, replicas: 2 }), 'two', false))).toMatchObject({
      code: 409,
      reason: 'Conflict',
      message: 'Apply failed with 2 conflicts: conflicts with "one":\n- .spec.replicas\n- .spec.data.a',
      details: {
        causes: [
          { reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.spec.replicas' },
          { reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.spec.data.a' },
        ],
      },
    });
    const forced = manager.apply(one, config({ data: { a: '2' } }), 'two', true)!;
    expect(owners(forced)).toEqual(['one Apply 00 .spec.data.b .spec.replicas', 'two Apply 01 .spec.data.a']);
    const shared = manager.apply(forced, config({ data: { b: '1' } }), 'three', false)!;
    expect(owners(shared)).toEqual(['three Apply - .spec.data.b', 'one Apply 00 .spec.data.b .spec.replicas', 'two Apply 01 .spec.data.a']);
  });

  it('names an updater with its version in a conflict', () => {
    const manager = make();
    const live = stored(manager.update(undefined, thing({ replicas: 1 }), 'up'));
    expect(failure(() => manager.apply(live, config({ replicas: 2 }), 'app', false))).toMatchObject({
      message: 'Apply failed with 1 conflict: conflict with "up" using test/v1: .spec.replicas',
    });
  });

  it('removes fields that are no longer applied and have no other owner', () => {
    const manager = make();
    let live = manager.apply(
      empty(),
      config({ data: { a: '1', b: '1' }, items: [{ name: 'x', value: '1' }, { name: 'y' }], strategy: { type: 't' } }),
      'one',
      false,
    )!;
    live = manager.apply(live, config({ data: { b: '1' }, items: [{ name: 'y' }] }), 'two', false)!;
    live = manager.apply(live, config({ replicas: 1 }), 'one', false)!;
    expect(live.spec).toEqual({ data: { b: '1' }, items: [{ name: 'y', resources: {} }], replicas: 1, chosen: {} });
    live = manager.apply(live, config(), 'two', false)!;
    expect(live.spec).toMatchObject({ replicas: 1 });
    expect((live.spec as { items?: unknown[] }).items ?? []).toEqual([]);
    expect(owners(live)).toEqual(['one Apply 01 .spec.replicas', 'two Apply 02 .spec']);
  });

  it('returns undefined if nothing changes', () => {
    const manager = make();
    const live = manager.apply(empty(), config({ data: { a: '1' } }), 'one', false)!;
    expect(manager.apply(live, config({ data: { a: '1' } }), 'one', false)).toBeUndefined();
  });

  it('takes managedFields with an item that is not an entry for none', () => {
    const applied = config({ replicas: 1 }, { managedFields: [null] });
    expect(owners(make().apply(empty(), applied, 'app', false))).toEqual(['app Apply 00 .spec.replicas']);
  });

  it('assigns existing fields to before-first-apply', () => {
    const live = thing({ replicas: 1, data: { a: '1' } }, { uid: 'u' });
    expect(owners(make().apply(live, config({ replicas: 3 }), 'app', true))).toEqual([
      'app Apply 01 .spec.replicas',
      'before-first-apply Update 00 .spec.data .spec.data.a',
    ]);
  });

  it.each([
    {
      name: 'another kind',
      applied: { ...config(), kind: 'Other' },
      want: { code: 400, message: 'invalid object type: test/v1, Kind=Other' },
    },
    {
      name: 'another version',
      applied: { ...config(), apiVersion: 'v1' },
      want: { code: 400, message: 'invalid object type: /v1, Kind=Thing' },
    },
    {
      name: 'managedFields',
      applied: config({}, { managedFields: [] }),
      want: { code: 400, message: 'metadata.managedFields must be nil' },
    },
    {
      name: 'an entry of managedFields',
      applied: config({}, { managedFields: [{ manager: 'm' }] }),
      want: { code: 400, message: 'metadata.managedFields must be nil' },
    },
    {
      name: 'an unknown field',
      applied: config({ nope: 1 }),
      want: 'failed to create typed patch object (/n; test/v1, Kind=Thing): .spec.nope: field not declared in schema',
    },
    {
      name: 'duplicates',
      applied: config({ items: [{ name: 'a' }, { name: 'a' }] }, { namespace: 'x' }),
      want: 'failed to create typed patch object (x/n; test/v1, Kind=Thing): .spec.items: duplicate entries for key [name="a"]',
    },
  ])('rejects $name', ({ applied, want }) => {
    const got = failure(() => make().apply(empty(), applied, 'app', false));
    if (typeof want === 'string') expect(got).toBe(want);
    else expect(got).toMatchObject(want);
  });

  it('rejects unreadable managedFields', () => {
    expect(failure(() => make().apply(thing({}, { managedFields: [entry('x', {}, { operation: '' })] }), config(), 'app', false))).toBe(
      'failed to decode managed fields: operation must be `Apply` or `Update`',
    );
  });

  it("takes over fields of kubectl's client-side apply", () => {
    const key = 'kubectl.kubernetes.io/last-applied-configuration';
    const manager = make();
    const last = JSON.stringify(config({ data: { a: '1', b: '1' }, replicas: 1 }));
    let live = stored(
      manager.update(
        undefined,
        thing({ data: { a: '1', b: '1' }, replicas: 1 }, { annotations: { [key]: last } }),
        'kubectl-client-side-apply',
      ),
    );
    live = manager.update(live, { ...live, spec: { ...(live.spec as object), replicas: 5 } }, 'other');
    expect(failure(() => manager.apply(live, config({ data: { a: '2' }, replicas: 2 }), 'kubectl', false))).toMatchObject({
      message: 'Apply failed with 1 conflict: conflict with "other" using test/v1: .spec.replicas',
    });
    expect(failure(() => manager.apply(live, config({ data: { a: '2' } }), 'someone', false))).toMatchObject({ code: 409 });
    const next = manager.apply(live, config({ data: { a: '2' } }), 'kubectl', false)!;
    expect(next.spec).toMatchObject({ data: { a: '2', b: '1' } });
    expect(next.metadata.annotations?.[key]).toBe(
      '{"apiVersion":"test/v1","kind":"Thing","metadata":{"name":"n"},"spec":{"data":{"a":"2"}}}\n',
    );
  });

  it('skips fields that the endpoint resets', () => {
    const made = make({ resetFields: FieldSet.of(['f:status']) }).apply(
      empty(),
      config({ replicas: 1 }, {}, { status: { phase: 'x' } }),
      'app',
      false,
    );
    expect(owners(made)).toEqual(['app Apply 00 .spec.replicas']);
  });
});

const name = fc.constantFrom('a', 'b', 'c');
// Empty containers are excluded: applying one that another manager owns conflicts the second time, as upstream.
const spec = fc.record(
  {
    replicas: fc.integer({ min: 0, max: 2 }),
    data: fc.dictionary(name, fc.constantFrom('1', '2'), { minKeys: 1 }),
    selector: fc.dictionary(name, name, { minKeys: 1 }),
    items: fc.uniqueArray(fc.record({ name, value: fc.constantFrom('x', 'y') }, { requiredKeys: ['name'] }), {
      selector: (item) => item.name,
      minLength: 1,
    }),
  },
  { requiredKeys: [] },
);
const step = fc.record({ spec, manager: fc.constantFrom('one', 'two', 'three'), apply: fc.boolean() });

describe('any sequence of writes', () => {
  it('keeps sets consistent with the object, and applying again changes nothing', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 6 }), (steps) => {
        const manager = newFieldManager({ type: thingType, groupVersion: 'test/v1', kind: 'Thing', clock: () => '2026-01-01T00:00:00Z' });
        let live: KubeObject | undefined;
        for (const { spec: said, manager: who, apply } of steps) {
          if (apply) {
            live = manager.apply(live ?? empty(), config(said), who, true) ?? live!;
            expect(manager.apply(live, config(said), who, false)).toBeUndefined();
          } else {
            const next: KubeObject = { ...thing(said), ...(live && { metadata: { ...live.metadata } }) };
            live = manager.update(live, next, who);
            expect(manager.update(live, deepCopy(live), 'other')).toEqual(live);
          }
          if (!live.metadata.uid) live = stored(live);
          const { managedFields = [] } = live.metadata;
          validateManagedFields(managedFields);
          for (const { fieldsV1 } of managedFields)
            expect(JSON.stringify(FieldSet.fromFieldsV1(fieldsV1).toFieldsV1())).toBe(JSON.stringify(fieldsV1));
          const applied = managedFields.find((owner) => owner.manager === who && owner.operation === 'Apply');
          if (apply && said.replicas !== undefined) expect(fieldsOf(applied?.fieldsV1)).toContain('.spec.replicas');
          // An owned leaf exists in the object.
          const { data = {} } = live.spec as { data?: Record<string, string> };
          const owned = managedFields.flatMap(({ fieldsV1 }) =>
            Object.keys(fieldsV1?.['f:spec']?.['f:data'] ?? {}).filter((key) => key !== '.'),
          );
          for (const key of owned) expect(data).toHaveProperty([key.slice(2)]);
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe('ignoreManagedFieldsTimestamps', () => {
  it('restores times if they are the only difference', () => {
    const live = thing({ replicas: 1 }, { managedFields: [entry('a', { 'f:spec': {} }, { time: '2026-01-01T00:00:00Z' })] });
    const later = thing({ replicas: 1 }, { managedFields: [entry('a', { 'f:spec': {} }, { time: '2026-01-01T00:00:09Z' })] });
    expect(ignoreManagedFieldsTimestamps(later, live)).toEqual(live);
    const changed = thing({ replicas: 2 }, { managedFields: later.metadata.managedFields });
    expect(ignoreManagedFieldsTimestamps(changed, live)).toBe(changed);
    const other = thing({ replicas: 1 }, { managedFields: [entry('b', { 'f:spec': {} }, { time: '2026-01-01T00:00:09Z' })] });
    expect(ignoreManagedFieldsTimestamps(other, live)).toBe(other);
  });
});

describe('isResetManagedFields', () => {
  it.each([
    [undefined, false],
    [[], true],
    [[{}], true],
    [[entry('a', {})], false],
    [[{}, {}], false],
  ])('%j: %s', (entries, want) => {
    expect(isResetManagedFields(entries)).toBe(want);
  });
});

describe('managerOrUserAgent', () => {
  it.each([
    ['me', 'kubectl/v1', 'me'],
    ['', 'kubectl/v1.36 (linux/amd64)', 'kubectl'],
    ['', 'a\u0007b/c', 'ab'],
    ['', '', ''],
    ['', 'é'.repeat(100), 'é'.repeat(64)],
  ])('%j, %j: %j', (fieldManager, userAgent, want) => {
    expect(managerOrUserAgent(fieldManager, userAgent)).toBe(want);
  });
});

describe('ScaleHandler', () => {
  const paths = new Map([['apps/v1', ['f:spec', 'f:replicas']]]);
  const replicas = { 'f:spec': { 'f:replicas': {} } };
  const parent = [
    entry(
      'app',
      { 'f:spec': { 'f:replicas': {}, 'f:paused': {} } },
      { operation: 'Apply', apiVersion: 'apps/v1', time: '2026-01-01T00:00:01Z' },
    ),
    entry('up', { 'f:spec': { 'f:selector': {} } }, { apiVersion: 'apps/v1', time: '2026-01-01T00:00:02Z' }),
    entry('gone', replicas, { apiVersion: 'apps/v0' }),
  ];
  const handler = new ScaleHandler(parent, 'apps/v1', paths);
  const lines = (entries: ManagedFieldsEntry[] | undefined) => owners(thing({}, { managedFields: entries }));

  it('shows owners of the replicas in the Scale', () => {
    expect(lines(handler.toSubresource())).toEqual(['app Apply autoscaling/v1 01 .spec.replicas']);
  });

  it('removes the replicas from managers that lost them in the Scale', () => {
    const scale = [entry('new', replicas, { apiVersion: 'autoscaling/v1', subresource: 'scale', time: '2026-01-01T00:00:09Z' })];
    expect(lines(handler.toParent(scale))).toEqual([
      'app Apply apps/v1 01 .spec.paused',
      'new/scale Update apps/v1 - .spec.replicas',
      'up Update apps/v1 02 .spec.selector',
    ]);
  });

  it('keeps the entries of remaining owners', () => {
    expect(lines(handler.toParent(handler.toSubresource()))).toEqual([
      'app Apply apps/v1 01 .spec.paused .spec.replicas',
      'up Update apps/v1 02 .spec.selector',
    ]);
  });
});
