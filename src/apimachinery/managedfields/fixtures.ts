import { SchemaRegistry, type SchemaTable } from '#apimachinery/runtime/schema';

/** Types for the tests of this folder, in the form of the generated tables. */
const text = { type: 'string' } as const;
const tables: Readonly<Record<string, SchemaTable>> = {
  meta_v1: {
    ObjectMeta: {
      fields: {
        name: text,
        namespace: text,
        uid: text,
        resourceVersion: text,
        generation: { type: 'integer', format: 'int64' },
        creationTimestamp: { ref: 'Time', omitzero: true },
        labels: { map: text },
        annotations: { map: text },
        finalizers: { type: 'array', items: text, listType: 'set', patchStrategy: 'merge' },
        managedFields: { type: 'array', items: { ref: 'ManagedFieldsEntry' }, listType: 'atomic' },
      },
    },
    Time: { type: 'string', format: 'date-time' },
    ManagedFieldsEntry: {
      fields: {
        manager: text,
        operation: text,
        apiVersion: text,
        time: { ref: 'Time', ptr: true },
        fieldsType: text,
        fieldsV1: { ref: 'FieldsV1', ptr: true },
        subresource: text,
      },
    },
    FieldsV1: { type: 'object' },
  },
  test_v1: {
    Thing: {
      fields: {
        kind: text,
        apiVersion: text,
        metadata: { ref: 'meta_v1.ObjectMeta', always: true },
        spec: { ref: 'Spec', always: true },
        status: { ref: 'Status', always: true },
      },
    },
    Spec: {
      fields: {
        replicas: { type: 'integer', format: 'int32', ptr: true },
        paused: { type: 'boolean' },
        data: { map: text },
        selector: { map: text, mapType: 'atomic' },
        items: { type: 'array', items: { ref: 'Item' }, listType: 'map', listMapKeys: ['name'], always: true },
        args: { type: 'array', items: text, listType: 'atomic' },
        rules: { type: 'array', items: { ref: 'Reference' }, listType: 'atomic' },
        raw: { ref: 'runtime.RawExtension' },
        any: { ref: 'apiextensions_v1.JSON', ptr: true },
        strategy: { ref: 'Strategy', always: true },
        ref: { ref: 'Reference', ptr: true },
        chosen: { ref: 'Reference', always: true },
        limits: { map: { ref: 'resource.Quantity' } },
      },
    },
    Item: {
      fields: {
        name: { ...text, always: true },
        value: text,
        ports: { type: 'array', items: { ref: 'Port' }, listType: 'map', listMapKeys: ['port', 'protocol'] },
        resources: { ref: 'Strategy', always: true },
      },
    },
    Port: { fields: { port: { type: 'integer', format: 'int32', always: true }, protocol: { ...text, default: 'TCP' }, name: text } },
    Strategy: { fields: { type: text, rolling: { ref: 'Strategy', ptr: true } } },
    Reference: {
      mapType: 'atomic',
      fields: { name: text, kind: text, labels: { map: text }, more: { type: 'array', items: { ref: 'Strategy' } } },
    },
    Status: { fields: { phase: text, replicas: { type: 'integer', format: 'int32', always: true } } },
  },
  test_v2: {
    Thing: {
      fields: {
        kind: text,
        apiVersion: text,
        metadata: { ref: 'meta_v1.ObjectMeta', always: true },
        spec: { ref: 'Spec', always: true },
      },
    },
    Spec: { fields: { size: { type: 'integer', format: 'int32', ptr: true }, data: { map: text, mapType: 'atomic' } } },
  },
};

export const registry = new SchemaRegistry((file) => tables[file]!);
export const thingType = registry.struct('test_v1.Thing');
