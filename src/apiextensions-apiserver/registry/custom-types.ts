import { metaSchema } from '#apimachinery/meta/schema/schema';
import { type GroupVersionKind, groupVersionString } from '#apimachinery/meta/types';
import { compareUtf8 } from '#apimachinery/runtime/json/json';
import type { Field, ScalarKind, StructType, Type } from '#apimachinery/runtime/schema';
import type { Structural } from '#apimachinery/structural/structural';

const scalar = (kind: ScalarKind): Type => ({ kind: 'scalar', scalar: kind });
const any: Type = { kind: 'raw', name: 'any' };
const text = scalar('string');
/** A scalar of any kind; only validation checks the kind. */
const intOrString = scalar('intOrString');
/** The type of a string with a format: server-side apply accepts any scalar for it. */
const anyScalar = scalar('time');

function field(name: string, type: Type, more: Partial<Field> = {}): Field {
  return { name, type, required: false, ptr: true, always: false, omitzero: false, default: undefined, atomic: false, ...more };
}

/** Prefix of schema names for the kinds of contributed subresources. */
export const actionSchema = 'action/';

/** Returns a struct type whose fields, and those of nested types, are encoded by name, as Go encodes a map. */
function sorted(type: Type): Type {
  switch (type.kind) {
    case 'struct': {
      const fields = [...type.fields.values()].sort((a, b) => compareUtf8(a.name, b.name));
      return {
        kind: 'struct',
        name: type.name,
        goName: type.goName,
        fields: new Map(fields.map((one) => [one.name, { ...one, type: sorted(one.type) }])),
        atomic: type.atomic,
        preserveUnknownFields: false,
      };
    }
    case 'list':
      return { ...type, items: sorted(type.items) };
    case 'raw':
      return any;
    default:
      return type;
  }
}

const sortedObjectMeta = sorted(metaSchema.struct('meta_v1.ObjectMeta'));

/** Returns the encoding type of custom resources: all keys sorted, metadata typed, the rest raw. */
export function customObjectType(kind: GroupVersionKind): StructType {
  return {
    kind: 'struct',
    name: `${groupVersionString(kind)}/${kind.kind}`,
    goName: 'unstructured.Unstructured',
    fields: new Map([
      ['apiVersion', field('apiVersion', text)],
      ['kind', field('kind', text)],
      ['metadata', field('metadata', sortedObjectMeta)],
    ]),
    atomic: false,
    preserveUnknownFields: true,
  };
}

/** Returns the type by which server-side apply distinguishes the fields of custom resources. Upstream: kube-openapi/pkg/schemaconv. */
export function customApplyType(kind: GroupVersionKind, schema: Structural): StructType {
  return structOf(`${groupVersionString(kind)}/${kind.kind}`, schema.asResourceRoot());
}

function structOf(name: string, schema: Structural): StructType {
  const fields = new Map<string, Field>();
  for (const [property, part] of schema.properties) {
    const type = typeOf(`${name}.${property}`, part);
    fields.set(property, field(property, type, { default: part.default, atomic: isAtomic(part) }));
  }
  if (schema.embeddedResource) {
    fields.set('apiVersion', field('apiVersion', text));
    fields.set('kind', field('kind', text));
    fields.set('metadata', field('metadata', metaSchema.struct('meta_v1.ObjectMeta')));
  }
  return {
    kind: 'struct',
    name,
    goName: 'unstructured.Unstructured',
    fields,
    atomic: isAtomic(schema),
    preserveUnknownFields: schema.preserveUnknownFields,
  };
}

const isAtomic = ({ props }: Structural): boolean => props['x-kubernetes-map-type'] === 'atomic';

function typeOf(name: string, schema: Structural): Type {
  const { props, type, items, additionalProperties } = schema;
  if (props['x-kubernetes-int-or-string']) return intOrString;
  switch (type) {
    case 'array':
      return {
        kind: 'list',
        items: items ? typeOf(`${name}[]`, items) : any,
        listType: listTypeOf(schema.listType),
        listMapKeys: props['x-kubernetes-list-map-keys'] ?? [],
      };
    case 'object':
      if (schema.properties.size > 0 || schema.embeddedResource) return structOf(name, schema);
      if (additionalProperties)
        return { kind: 'map', values: typeOf(`${name}{}`, additionalProperties), mapType: isAtomic(schema) ? 'atomic' : 'granular' };
      return structOf(name, schema);
    case 'string':
      return props.format && props.format !== 'byte' ? anyScalar : text;
    case 'integer':
      return scalar('int64');
    case 'number':
      return scalar('float64');
    case 'boolean':
      return scalar('boolean');
    default:
      return any;
  }
}

function listTypeOf(listType: string | undefined): 'atomic' | 'set' | 'map' {
  return listType === 'set' || listType === 'map' ? listType : 'atomic';
}
