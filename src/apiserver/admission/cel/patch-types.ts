/** Types that mutations construct: `Object{…}`, `Object.spec{…}` and `JSONPatch{…}`. Upstream: apiserver/pkg/cel/mutation. */
import { type JsonObject, setOwn } from '#apimachinery/patch/own-property';
import { type CelType, dynType, listType, stringType, structType } from '#apiserver/cel/check/types';
import type { StructProvider } from '#apiserver/cel/environment';
import { equal } from '#apiserver/cel/runtime/equality';
import { CelError, CelList, CelMap, type CelObject, type Value } from '#apiserver/cel/runtime/values';
import { type BytesForm, toJson } from '#apiserver/cel/to-json';

export const objectType = structType('Object');
const jsonPatchType = structType('JSONPatch');
export const jsonPatchListType = listType(jsonPatchType);

/** An object with arbitrary fields, some of which are set. */
export class ObjectValue implements CelObject {
  readonly celType: CelType;

  constructor(
    typeName: string,
    readonly fields: ReadonlyMap<string, Value>,
  ) {
    this.celType = structType(typeName);
  }

  equals(other: Value): Value {
    if (!(other instanceof ObjectValue) || other.celType.name !== this.celType.name || other.fields.size !== this.fields.size) return false;
    return [...this.fields].every(([name, value]) => {
      const theirs = other.fields.get(name);
      return theirs !== undefined && equal(value, theirs) === true;
    });
  }

  toJson(form?: BytesForm): JsonObject {
    const object: JsonObject = {};
    for (const [name, value] of this.fields) setOwn(object, name, toJson(value, undefined, form));
    return object;
  }

  /** Returns errors for types whose names do not match the path of their field: `Object.spec` belongs in `spec`. */
  misplacedTypes(path = this.celType.name): string[] {
    const wrong: string[] = [];
    const { name } = this.celType;
    if (name !== path)
      wrong.push(
        `unexpected type name ${JSON.stringify(name)}, expected ${JSON.stringify(path)}, which matches field name path from root Object type`,
      );
    for (const [field, value] of this.fields) {
      for (const inner of objectsIn(value)) wrong.push(...inner.misplacedTypes(`${path}.${field}`));
    }
    return wrong;
  }
}

/** Returns the objects in a field's value: the value itself, or the items of a list or map. */
function objectsIn(value: Value): ObjectValue[] {
  if (value instanceof ObjectValue) return [value];
  if (value instanceof CelList) return [...value].flatMap(objectsIn);
  if (value instanceof CelMap) return [...value.keys()].flatMap((key) => objectsIn(value.find(key)!));
  return [];
}

/** One operation of a JSON patch. */
export class JsonPatchValue implements CelObject {
  readonly celType = jsonPatchType;

  constructor(readonly fields: ReadonlyMap<string, Value>) {}

  member(name: 'op' | 'path' | 'from'): string {
    const value = this.fields.get(name);
    return typeof value === 'string' ? value : '';
  }

  get value(): Value | undefined {
    return this.fields.get('value');
  }

  equals(other: Value): Value {
    if (!(other instanceof JsonPatchValue)) return false;
    if ((['op', 'path', 'from'] as const).some((name) => this.member(name) !== other.member(name))) return false;
    if (this.value === undefined || other.value === undefined) return this.value === other.value;
    return equal(this.value, other.value);
  }
}

const patchFields: ReadonlyMap<string, CelType> = new Map([
  ['op', stringType],
  ['path', stringType],
  ['from', stringType],
  ['value', dynType],
]);
/** Type of unknown fields, to which no value is assignable. */
const noType = structType('');

function createPatch(fields: ReadonlyMap<string, Value>): Value {
  for (const [name, value] of fields) {
    if (!patchFields.has(name)) return new CelError(`unexpected JSONPatchType field: ${name}`);
    if (name !== 'value' && typeof value !== 'string')
      return new CelError(`unexpected type ${typeof value} for JSONPatchType '${name}' field`);
  }
  return new JsonPatchValue(fields);
}

export const patchTypes: StructProvider = {
  has: (name) => name === 'JSONPatch' || name === 'Object' || name.startsWith('Object.'),
  findField: (name, field) => (name === 'JSONPatch' ? (patchFields.get(field) ?? noType) : dynType),
  create: (name, fields) => (name === 'JSONPatch' ? createPatch(fields) : new ObjectValue(name, fields)),
};
