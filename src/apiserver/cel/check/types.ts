/** The types of CEL. Upstream: cel-go common/types/types.go, checker/format.go. */

export type Kind =
  | 'any'
  | 'bool'
  | 'bytes'
  | 'double'
  | 'duration'
  | 'dyn'
  | 'error'
  | 'int'
  | 'list'
  | 'map'
  | 'null'
  | 'opaque'
  | 'string'
  | 'struct'
  | 'timestamp'
  | 'type'
  | 'typeParam'
  | 'uint';

/** An immutable type; it is also the value of an expression like `int` or `type(x)`. */
export class CelType {
  constructor(
    readonly kind: Kind,
    /** Name of the type in `type(x)`. */
    readonly name: string,
    readonly parameters: readonly CelType[] = [],
  ) {}

  /** Returns the name of the type in the checker's error messages. Upstream: FormatCELType. */
  toString(): string {
    const short = shortNames[this.kind];
    if (short !== undefined) return short;
    if (this.parameters.length === 0) return this.name;
    return `${this.name}(${this.parameters.join(', ')})`;
  }
}

/** Returns the name of the type in error messages of callers. Upstream: Type.String. */
export function describeType(type: CelType): string {
  if (type.kind === 'typeParam') return `<${type.name}>`;
  return type.parameters.length === 0 ? type.name : `${type.name}(${type.parameters.map(describeType).join(', ')})`;
}

const shortNames: Readonly<Partial<Record<Kind, string>>> = {
  any: 'any',
  duration: 'duration',
  error: '!error!',
  null: 'null',
  timestamp: 'timestamp',
};

export const anyType = new CelType('any', 'google.protobuf.Any');
export const boolType = new CelType('bool', 'bool');
export const bytesType = new CelType('bytes', 'bytes');
export const doubleType = new CelType('double', 'double');
export const durationType = new CelType('duration', 'google.protobuf.Duration');
export const dynType = new CelType('dyn', 'dyn');
export const errorType = new CelType('error', 'error');
export const intType = new CelType('int', 'int');
export const nullType = new CelType('null', 'null_type');
export const stringType = new CelType('string', 'string');
export const timestampType = new CelType('timestamp', 'google.protobuf.Timestamp');
export const typeType = new CelType('type', 'type');
export const uintType = new CelType('uint', 'uint');

export function listType(element: CelType): CelType {
  return new CelType('list', 'list', [element]);
}

export function mapType(key: CelType, value: CelType): CelType {
  return new CelType('map', 'map', [key, value]);
}

/** Creates a message type with the name. */
export function structType(name: string): CelType {
  return new CelType('struct', name);
}

export function opaqueType(name: string, ...parameters: CelType[]): CelType {
  return new CelType('opaque', name, parameters);
}

export function optionalType(parameter: CelType): CelType {
  return opaqueType('optional_type', parameter);
}

export function typeParam(name: string): CelType {
  return new CelType('typeParam', name);
}

/** Returns the type of a type. */
export function typeOfType(type: CelType): CelType {
  return new CelType('type', 'type', [type]);
}

/** List and map types with elements of any type, the types of `type([])` and `type({})`. */
export const anyListType = listType(dynType);
export const anyMapType = mapType(dynType, dynType);

export function isDyn(type: CelType): boolean {
  return type.kind === 'dyn' || type.kind === 'any';
}

export function isOptionalType(type: CelType): boolean {
  return type.kind === 'opaque' && type.name === 'optional_type';
}

/** True if the types are equal, including their parameters. */
export function isExactType(a: CelType, b: CelType): boolean {
  if (a === b) return true;
  if (a.kind !== b.kind || a.name !== b.name || a.parameters.length !== b.parameters.length) return false;
  return a.parameters.every((parameter, index) => isExactType(parameter, b.parameters[index]!));
}
