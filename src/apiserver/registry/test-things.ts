/** A kind for the tests of this folder, with its types. */
import { metaTables } from '#apimachinery/meta/schema/tables';
import type { KubeObject, ObjectMeta } from '#apimachinery/meta/types';
import { SchemaRegistry } from '#apimachinery/runtime/schema';
import { defineResource, type ResourceDefinition } from './resource-definition.ts';

const text = { type: 'string' } as const;

export const schemas = new SchemaRegistry((file) =>
  file !== 'test_v1'
    ? metaTables.schema(file)
    : {
        Thing: {
          fields: {
            kind: text,
            apiVersion: text,
            metadata: { ref: 'meta_v1.ObjectMeta', always: true },
            spec: { ref: 'ThingSpec', always: true },
          },
        },
        ThingSpec: { fields: { color: text } },
        /** Go always encodes `items`: null if it is absent. */
        Bag: { fields: { metadata: { ref: 'meta_v1.ObjectMeta', always: true }, items: { type: 'array', items: text, always: true } } },
      },
);

export interface Thing extends KubeObject {
  spec?: { color?: string };
}

export function thingDefinition(more: Partial<ResourceDefinition> = {}): ResourceDefinition {
  return defineResource({
    group: 'things.example.com',
    version: 'v1',
    kind: 'Thing',
    resource: 'things',
    schema: 'test_v1.Thing',
    storagePath: 'things',
    ...more,
  });
}

export function thing(color: string, metadata: ObjectMeta = { name: 'a' }): Thing {
  return { apiVersion: 'things.example.com/v1', kind: 'Thing', metadata: { namespace: 'ns', ...metadata }, spec: { color } };
}
