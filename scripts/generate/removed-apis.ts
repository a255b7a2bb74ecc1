import { read, type Json, type Table } from './facts.ts';

/** A package of a removed Kubernetes API, in the form of the facts. */
export interface RemovedApi {
  /** Name of the schema table: `policy_v1beta1`. */
  readonly file: string;
  /** Go package: `k8s.io/api/policy/v1beta1`. */
  readonly go: string;
  readonly definitions: Table;
  /** Protobuf messages by name. */
  readonly messages: Table;
}

interface RemovedField {
  readonly type?: string;
  readonly format?: string;
  readonly ref?: string;
  readonly items?: RemovedField;
  readonly enum?: Json;
  readonly ptr?: boolean;
  readonly always?: boolean;
  readonly pb?: number;
}
type RemovedDefinition = Readonly<Record<string, Json>> & { readonly fields: Readonly<Record<string, RemovedField>> };

/** Returns the APIs that only admission plugins of older versions use. */
export function removedApis(facts: string): RemovedApi[] {
  const removed = read(facts, 'legacy.json') as unknown as Record<
    string,
    { readonly protoPackage: string; readonly definitions: Readonly<Record<string, RemovedDefinition>> }
  >;
  const packages = read(facts, 'schema/index.json') as Record<string, { go: string }>;
  return Object.entries(removed).map(([file, { protoPackage, definitions }]) => {
    const messageType = (name: string): string => {
      const dot = name.indexOf('.');
      return dot < 0 ? name : `${packages[name.slice(0, dot)]?.go.replaceAll('/', '.')}.${name.slice(dot + 1)}`;
    };
    const schemas = Object.entries(definitions).map(([name, definition]) => [name, { ...definition, fields: schemasOf(definition) }]);
    const messages = Object.entries(definitions).map(([name, { fields }]) => [name, messageOf(fields, messageType)]);
    return {
      file,
      go: protoPackage.replaceAll('.', '/').replace('k8s/io', 'k8s.io'),
      definitions: Object.fromEntries(schemas) as Table,
      messages: Object.fromEntries(messages) as Table,
    };
  });
}

/** Returns the fields in the form of the tables: without protobuf-only properties, and with defaults from Go's zero values. */
function schemasOf({ fields }: RemovedDefinition): Table {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, schemaOf(field, name !== 'kind' && name !== 'apiVersion')]),
  );
}

function schemaOf({ type, format, ref, items, enum: values, ptr, always }: RemovedField, hasZero = false): Table {
  const zero = always && hasZero ? zeroOf(type, ref) : undefined;
  return {
    ...(type !== undefined && { type }),
    ...(format !== undefined && { format }),
    ...(ref !== undefined && { ref }),
    ...(items && { items: { ...schemaOf(items), ...(items.ref !== undefined && { default: {} }) } }),
    ...(values !== undefined && { enum: values }),
    ...(zero !== undefined && { default: zero }),
    ...(ptr && { ptr }),
    ...(always && { always }),
  };
}

function zeroOf(type: string | undefined, ref: string | undefined): Json | undefined {
  if (ref !== undefined) return {};
  return type === 'string' ? '' : type === 'integer' ? 0 : undefined;
}

function messageOf(fields: Readonly<Record<string, RemovedField>>, messageType: (name: string) => string): Json {
  return Object.entries(fields).flatMap(([name, { items, pb, ...field }]): Json[] => {
    if (pb === undefined) return [];
    const { type, format, ref } = items ?? field;
    const scalar = type === 'boolean' ? 'bool' : type === 'integer' ? (format ?? 'int64') : 'string';
    return [[name, pb, ref === undefined ? scalar : messageType(ref), ...(items ? ['repeated'] : [])]];
  });
}
