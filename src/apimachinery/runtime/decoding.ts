import { embeddedIn, namedTypeOf } from './go-names.ts';
import { DecodeError } from './json/json.ts';
import { Float64, isInt64 } from './numbers.ts';
import type { ScalarKind, Type } from './schema.ts';
import { goTypeName, type StructPlan } from './struct-plan.ts';

/**
 * The source of error messages: Go's JSON package, or upstream's converter for parsed values (strategic merge patches, apply), which also
 * accepts `1.0` as an integer and truncates large integers.
 */
export type DecodingForm = 'json' | 'unstructured';

export type RawContent = 'kept' | 'sorted' | 'remarshaled';

/** A map key in a path: part of the paths of unknown fields, but not of Go's type errors. */
export class MapKey {
  constructor(readonly key: string) {}
}

export type PathStep = string | number | MapKey;

/** Lists and maps of a document that were decoded before the document, each with the state of its decoding. */
export type DecodedParts = ReadonlyMap<object, Decoding>;

/** State of one decoding. `at` is the current path: field names, list indexes and map keys of the open containers. */
export class Decoding {
  readonly at: PathStep[] = [];
  readonly unknown: string[] = [];
  /** The first mismatch, which Go reports after decoding the rest, unless a type's own parser fails first. */
  error: DecodeError | undefined;
  /** Error that ended the decoding of a part early. */
  failure: Error | undefined;
  depth = 0;

  constructor(
    readonly root: StructPlan,
    readonly strict: boolean,
    readonly form: DecodingForm,
    /** See DecodeOptions. */
    readonly rawContent: RawContent,
    readonly hasFloats: boolean,
    /** Parts that are already decoded. */
    readonly parts?: DecodedParts,
  ) {}

  /** Returns the state for decoding a list or map at this path, in this many structs, before the document. */
  part(at: readonly PathStep[], depth: number): Decoding {
    const part = new Decoding(this.root, this.strict, this.form, this.rawContent, this.hasFloats, this.parts);
    part.at.push(...at);
    part.depth = depth;
    return part;
  }

  /** Decodes a slice of a part, unless an earlier one failed. The error is thrown when the document adopts the part. */
  attempt(decode: () => void): void {
    if (this.failure) return;
    try {
      decode();
    } catch (error) {
      this.failure = error as Error;
    }
  }

  /** Adopts the unknown fields and errors of a list or map that is already decoded; false for any other. */
  take(container: object): boolean {
    if (this.parts === undefined) return false;
    const part = this.parts.get(container);
    if (part === undefined) return false;
    if (part.failure) throw part.failure;
    for (const path of part.unknown) this.#addUnknownPath(path);
    this.error ??= part.error;
    return true;
  }

  path(name?: string): string {
    let text = '';
    for (const step of name === undefined ? this.at : [...this.at, name]) {
      if (typeof step === 'number') text += `[${step}]`;
      else text += `${text && '.'}${typeof step === 'string' ? step : step.key}`;
    }
    return text;
  }

  addUnknown(name: string): void {
    if (!this.strict || this.unknown.length >= 100) return;
    this.#addUnknownPath(this.path(name));
  }

  #addUnknownPath(path: string): void {
    if (this.unknown.length < 100 && !this.unknown.includes(path)) this.unknown.push(path);
  }

  /** Returns the error for a value of the wrong type. `field` is the field of the value, unless the path already contains it. */
  mismatch(value: unknown, type: Type, owner: StructPlan | undefined, field: string | undefined): DecodeError {
    const { names, typeName } = this.#place(type, field);
    if (this.form === 'unstructured') return new DecodeError(converterProblem(value, type, typeName));
    return this.typeError(valueWord(value), typeName, owner, field, names);
  }

  /** Returns the error for a number that its type cannot hold. */
  numberError(value: string, type: Type, owner: StructPlan | undefined, field: string | undefined): DecodeError {
    const { names, typeName } = this.#place(type, field);
    return this.typeError(value, typeName, owner, field, names);
  }

  /** Returns Go's error for a value of the wrong type. */
  typeError(
    value: string,
    typeName: string,
    owner: StructPlan | undefined,
    field: string | undefined,
    names: string[] = this.#place(undefined, field).names,
  ): DecodeError {
    if (!owner) return new DecodeError(`json: cannot unmarshal ${value} into Go value of type ${typeName}`);
    if (owner.embedsTypeMeta && (field === 'kind' || field === 'apiVersion')) names.splice(-1, 0, 'TypeMeta');
    return new DecodeError(
      `json: cannot unmarshal ${value} into Go struct field ${owner.shortName}.${names.join('.')} of type ${typeName}`,
    );
  }

  /** Returns the error of a type's own parser. */
  parserError(value: string, typeName: string, owner: StructPlan | undefined, field: string | undefined): DecodeError {
    return this.form === 'unstructured'
      ? new DecodeError(`json: cannot unmarshal ${value} into Go value of type ${typeName}`)
      : this.typeError(value, typeName, owner, field);
  }

  /** Returns the field names of the path, including embedded structs, and Go's name of the type. */
  #place(type: Type | undefined, field: string | undefined): { names: string[]; typeName: string } {
    const names: string[] = [];
    let typeName: string | undefined;
    let current: Type | undefined = this.root.type;
    for (const step of field === undefined ? this.at : [...this.at, field]) {
      if (typeof step !== 'string') {
        typeName = typeName?.startsWith('[]') ? typeName.slice(2) : typeName?.startsWith('map[string]') ? typeName.slice(11) : undefined;
        current = current?.kind === 'list' ? current.items : current?.kind === 'map' ? current.values : undefined;
        continue;
      }
      const struct: Type | undefined = current?.kind === 'struct' ? current : undefined;
      const outer = struct && embeddedIn(struct.name, step);
      if (outer !== undefined) names.push(outer);
      names.push(step);
      typeName = struct && namedTypeOf(struct.name, step);
      current = struct?.kind === 'struct' ? struct.fields.get(step)?.type : undefined;
    }
    return { names, typeName: typeName ?? (type ? goTypeName(type) : '') };
  }

  /** Saves the first mismatch; later ones are not formatted. */
  save(error: () => DecodeError): void {
    // The converter stops at the first error.
    if (this.form === 'unstructured') throw error();
    this.error ??= error();
  }
}

/** Returns Go's word for a JSON value in errors. */
export function valueWord(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'bool';
    case 'number':
    case 'bigint':
      return 'number';
    default:
      if (value instanceof Float64) return 'number';
      return value === null ? 'null' : 'object';
  }
}

/** Returns Go's kind of a parsed value. */
function kindOf(value: unknown): string {
  const word = valueWord(value);
  if (word === 'array') return 'slice';
  if (word === 'object') return 'map';
  return word === 'number' ? (isInt64(value) ? 'int64' : 'float64') : word;
}

const goKinds: Readonly<Partial<Record<ScalarKind, string>>> = { boolean: 'bool', bytes: 'slice' };

/** Returns the message of upstream's converter for a value of the wrong type. Upstream: runtime/converter.go, fromUnstructured. */
function converterProblem(value: unknown, type: Type, typeName: string): string {
  const kind = kindOf(value);
  if (type.kind === 'struct') return `cannot restore struct from: ${kind}`;
  if (type.kind === 'map') return `cannot restore map from ${kind}`;
  if (type.kind === 'list') return `cannot restore slice from ${kind}`;
  const want = type.kind === 'scalar' ? (goKinds[type.scalar] ?? type.scalar) : 'interface';
  if (want === 'slice') return `cannot restore slice from ${kind}`;
  // Go converts integers to strings (of one character) and numbers to each other: its message differs for these.
  const isConvertible = (kind === 'int64' && want === 'string') || (kind === 'float64' && /^(int|float)/.test(want));
  return isConvertible ? `cannot convert ${kind} to ${typeName}` : `unrecognized type: ${want}`;
}
