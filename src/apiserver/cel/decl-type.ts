/** Types declared by a schema, with size bounds. Upstream: apiserver/pkg/cel/types.go. */
import {
  boolType,
  type CelType,
  doubleType,
  dynType,
  intType,
  listType,
  mapType,
  stringType,
  structType,
  timestampType,
} from './check/types.ts';

/** Stands for "unbounded". */
export const noMaxLength = Number.MAX_SAFE_INTEGER;

/** A type with its nested types. Objects have names, by which the checker finds their fields. */
export interface DeclType {
  readonly name: string;
  readonly celType: CelType;
  /** Fields of an object, by their escaped name (see `escape`). */
  readonly fields?: ReadonlyMap<string, DeclField>;
  /** Key type of a map. */
  readonly keyType?: DeclType;
  /** Element type of a list or map. */
  readonly elemType?: DeclType;
  /** Maximum number of elements of a list, entries of a map or code points of a string. */
  readonly maxElements: number;
  /** Minimum size of a serialized value in bytes; it bounds how many fit into a request. */
  readonly minSerializedSize: number;
}

export interface DeclField {
  readonly name: string;
  readonly type: DeclType;
  readonly required: boolean;
  readonly enumValues?: readonly unknown[];
}

export function simpleDecl(name: string, celType: CelType, minSerializedSize: number, maxElements = 0): DeclType {
  return { name, celType, minSerializedSize, maxElements };
}

export const minStringSize = 2;
export const minDurationSize = 3;
export const jsonDateSize = 12;
export const minDatetimeSize = 21;

export const boolDecl = simpleDecl('bool', boolType, 4);
export const doubleDecl = simpleDecl('double', doubleType, 1);
export const dynDecl = simpleDecl('dyn', dynType, 1);
export const intDecl = simpleDecl('int', intType, 1);
export const stringDecl = simpleDecl('string', stringType, minStringSize);
export const timestampDecl = simpleDecl('timestamp', timestampType, jsonDateSize);

export function listDecl(elemType: DeclType, maxElements = noMaxLength): DeclType {
  return { name: 'list', celType: listType(elemType.celType), elemType, maxElements, minSerializedSize: 2 };
}

export function mapDecl(keyType: DeclType, elemType: DeclType, maxElements = noMaxLength): DeclType {
  return { name: 'map', celType: mapType(keyType.celType, elemType.celType), keyType, elemType, maxElements, minSerializedSize: 2 };
}

/** Declares an object type. The name `object` is a placeholder that `assignTypeName` replaces. */
export function objectDecl(name: string, fields: ReadonlyMap<string, DeclField>, minSerializedSize = 2): DeclType {
  return { name, celType: structType(name), fields, maxElements: 0, minSerializedSize };
}

/** Declares an object type whose fields are all optional. */
export function objectOf(name: string, fields: Readonly<Record<string, DeclType>>): DeclType {
  return objectDecl(name, new Map(Object.entries(fields).map(([field, type]) => [field, { name: field, type, required: false }])));
}

/**
 * Names the unnamed objects in a type by their position in it: `name.field`, `name.@idx`, `name.@elem`. Upstream:
 * MaybeAssignTypeName.
 */
export function assignTypeName(type: DeclType, name: string): DeclType {
  if (type.fields) return assignObjectName(type, type.fields, name);
  if (!type.elemType) return type;
  const elemType = assignTypeName(type.elemType, `${name}.${type.keyType ? '@elem' : '@idx'}`);
  if (elemType === type.elemType) return type;
  return type.keyType ? mapDecl(type.keyType, elemType, type.maxElements) : listDecl(elemType, type.maxElements);
}

function assignObjectName(type: DeclType, known: ReadonlyMap<string, DeclField>, name: string): DeclType {
  const own = type.name === 'object' ? name : type.name;
  let changed = own !== type.name;
  const fields = new Map<string, DeclField>();
  for (const [fieldName, field] of known) {
    const named = assignTypeName(field.type, `${own}.${fieldName}`);
    if (named !== field.type) changed = true;
    fields.set(fieldName, named === field.type ? field : { ...field, type: named });
  }
  return changed ? objectDecl(own, fields, type.minSerializedSize) : type;
}

/** Returns the object types in a type, including itself, by name. */
export function collectObjects(type: DeclType, into = new Map<string, DeclType>()): Map<string, DeclType> {
  if (type.fields && !into.has(type.name)) {
    into.set(type.name, type);
    for (const field of type.fields.values()) collectObjects(field.type, into);
  }
  if (type.elemType) collectObjects(type.elemType, into);
  return into;
}
