import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '#apimachinery/meta/types';
import { deepCopy } from '#apimachinery/runtime/copy';
import { encodeRawJson } from '#apimachinery/runtime/json/json';
import type { StructType, Type } from '#apimachinery/runtime/schema';
import { newFieldManager } from './field-manager.ts';
import { thingType } from './fixtures.ts';
import { NewObjectFields } from './new-object-fields.ts';
import { shapeOf } from './shape.ts';

const make = (type: StructType = thingType) =>
  newFieldManager({ type, groupVersion: 'test/v1', kind: 'Thing', clock: () => '2026-01-01T00:00:00Z' });

/** Keys that are prefixes of each other, or look like a length. */
const name = fc.constantFrom('a', 'b', 'ab', '1', '1:a', '');
const port = fc.record(
  { port: fc.constantFrom(0, 1, '1', null, 2), protocol: fc.constantFrom('TCP', 'UDP', '', null), name },
  { requiredKeys: [] },
);
const item = fc.record(
  {
    name: fc.option(name),
    value: fc.constantFrom('', 'x', null),
    ports: fc.array(port, { maxLength: 2 }),
    resources: fc.record({ type: name }, { requiredKeys: [] }),
  },
  { requiredKeys: [] },
);
// Atomic structs: as pointers (`ref`) and as values (`chosen`), which Go omits in other cases.
const reference = fc.record(
  {
    name: fc.constantFrom('', 'x', null),
    labels: fc.dictionary(name, fc.constantFrom('', 'x'), { maxKeys: 1 }),
    more: fc.array(fc.constantFrom<unknown>({}, null, { type: '' }, { rolling: {} }, { type: 'x' }), { maxLength: 2 }),
  },
  { requiredKeys: [] },
);
const referring = fc.record({
  metadata: fc.constant({}),
  spec: fc.record({ ref: reference, chosen: reference }, { requiredKeys: [] }),
});
const spec = fc.record(
  {
    replicas: fc.constantFrom(0, 1, null, undefined),
    paused: fc.constantFrom(true, false, null),
    data: fc.dictionary(name, fc.constantFrom<unknown>('1', '', null, undefined, {}), { maxKeys: 3 }),
    selector: fc.dictionary(name, name, { maxKeys: 2 }),
    items: fc.option(fc.array(item, { maxLength: 3 })),
    args: fc.array(name, { maxLength: 2 }),
    any: fc.jsonValue({ maxDepth: 2 }),
    strategy: fc.constantFrom<unknown>({}, null, { type: '' }, { type: 'x', rolling: {} }, []),
    unknown: fc.constantFrom(1, undefined),
  },
  { requiredKeys: [] },
);
const metadata = fc.record(
  {
    name,
    labels: fc.option(fc.dictionary(name, name, { maxKeys: 2 })),
    finalizers: fc.array(fc.constantFrom('a', 'b', 'ab'), { maxLength: 3 }),
  },
  { requiredKeys: [] },
);
// A required scalar, which has no owner with its zero value.
const status = fc.option(fc.record({ phase: fc.constantFrom('', 'p'), replicas: fc.constantFrom(0, 1, 2, null) }, { requiredKeys: [] }), {
  nil: undefined,
});
const thing = fc.oneof({ weight: 3, arbitrary: fc.record({ metadata, spec, status }, { requiredKeys: ['metadata'] }) }, referring);
const objectOf = (parts: object): KubeObject => ({ apiVersion: 'test/v1', kind: 'Thing', ...parts }) as unknown as KubeObject;

/** Returns the result of a new manager, which always compares. */
function expectedOf(object: KubeObject, type?: StructType): KubeObject {
  return make(type).update(undefined, deepCopy(object), 'me');
}

/** Returns the type in the form of a CustomResourceDefinition's type. */
function ofCustomResource(type: StructType): StructType {
  const { kind, goName, fields, atomic, preserveUnknownFields } = type;
  return { kind, name: `test/v1/${type.name}`, goName, fields, atomic, preserveUnknownFields };
}

describe.each([
  ['a Go struct', thingType],
  ['a custom resource', ofCustomResource(thingType)],
])('fields of new objects of %s', (_, type: StructType) => {
  it('equal the result of a comparison, whatever objects came before', () => {
    const shared = make(type);
    fc.assert(
      fc.property(thing, (parts) => {
        const object = objectOf(parts);
        const expected = expectedOf(object, type);
        for (let time = 0; time < 2; time += 1) {
          const made = shared.update(undefined, deepCopy(object), 'me');
          expect(made).toEqual(expected);
          // The order must be equal too.
          const fields = made.metadata.managedFields?.[0]?.fieldsV1;
          if (fields) expect(encodeRawJson(fields)).toBe(encodeRawJson(expected.metadata.managedFields?.[0]?.fieldsV1));
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('objects of the same form', () => {
  const forms = new NewObjectFields(shapeOf(thingType as Type));
  const pod = (name: string, value: string) => objectOf({ metadata: { name }, spec: { items: [{ name: 'app', value }] } });

  it('share their frozen fields', () => {
    const manager = make();
    const [one, two] = ['one', 'two'].map((text) => manager.update(undefined, pod(text, text), text).metadata.managedFields![0]!);
    expect(two!.fieldsV1).toBe(one!.fieldsV1);
    expect([one!.manager, two!.manager]).toEqual(['one', 'two']);
    expect(() => Object.assign(two!.fieldsV1!['f:spec']!, { 'f:more': {} })).toThrow(TypeError);
  });

  it('have the same signature; another key changes it', () => {
    expect(forms.signatureOf(pod('one', 'x'))).toBe(forms.signatureOf(pod('two', 'y')));
    expect(forms.signatureOf(objectOf({ metadata: { name: 'one' }, spec: { items: [{ name: 'web', value: 'x' }] } }))).not.toBe(
      forms.signatureOf(pod('one', 'x')),
    );
  });

  it('have another form if an atomic value is empty', () => {
    const selecting = (selector: object) => forms.signatureOf(objectOf({ metadata: {}, spec: { selector } }));
    expect(selecting({ a: '1' })).toBe(selecting({ b: '2' }));
    expect(selecting({})).not.toBe(selecting({ a: '1' }));
  });

  it('are not cached if they are large, deep or of an unsupported form', () => {
    const data = Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`key-${at}`, '']));
    expect(forms.signatureOf(objectOf({ metadata: {}, spec: { data, replicas: 1, items: [] } }))).toBeUndefined();
    expect(forms.signatureOf(objectOf({ metadata: {}, spec: { any: { a: 1 } } }))).toBeUndefined();
    let rolling: object = {};
    for (let depth = 0; depth < 1_000; depth += 1) rolling = { rolling };
    expect(forms.signatureOf(objectOf({ metadata: {}, spec: { strategy: rolling } }))).toBeUndefined();
  });

  it('are evicted after many others', () => {
    for (let at = 0; at < 100; at += 1) forms.set(`form ${at}`, { 'f:a': {} });
    expect(forms.get('form 0')).toBeUndefined();
    expect(forms.get('form 99')).toEqual({ 'f:a': {} });
  });
});
