import type { FieldsV1 } from '#apimachinery/meta/types';
import { isEmptyObject } from '#apimachinery/patch/own-property';
import { memos } from '#apimachinery/runtime/memos';
import { Float64, isContainer, isNumber } from '#apimachinery/runtime/numbers';
import { knownFields } from './known-fields.ts';
import type { FieldShape, ListShape, MapShape, Shape } from './shape.ts';

type Json = Record<string, unknown>;

/** Maximum length of a signature; larger objects seldom have the same form. */
const maxSignature = 4_096;
const maxDepth = 64;

/** Minimum number of cached forms per kind; the maximum is twice as many. */
const maxForms = 16;

/**
 * Cache of the fields of new objects of one type, by the objects' form. The creator owns all fields except required ones with a zero value,
 * regardless of other values; and clients create many objects of one form: the pods of a ReplicaSet differ only in their names.
 */
export class NewObjectFields {
  #recent = new Map<string, FieldsV1>();
  #older = new Map<string, FieldsV1>();

  constructor(private readonly shape: Shape) {}

  /**
   * Returns a text that determines the paths of an object: its fields, the keys of its maps and of its list items. undefined if the object
   * is too large or has an unsupported form. Never throws.
   */
  signatureOf(object: object): string | undefined {
    const writer = new SignatureWriter();
    return writer.value(this.shape, object, 0) ? writer.text : undefined;
  }

  get(signature: string): FieldsV1 | undefined {
    if (!memos.newObjectFields) return undefined;
    const recent = this.#recent.get(signature);
    if (recent) return recent;
    const older = this.#older.get(signature);
    if (older) this.#keep(signature, older);
    return older;
  }

  /** Stores the fields and freezes them. */
  set(signature: string, fields: FieldsV1): void {
    this.#keep(signature, knownFields(fields));
  }

  #keep(signature: string, fields: FieldsV1): void {
    if (this.#recent.size >= maxForms) {
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(signature, fields);
  }
}

/** Writes values so that values with different paths have different texts. Its methods return false for unsupported values. */
class SignatureWriter {
  text = '';

  value(shape: Shape, value: unknown, depth: number): boolean {
    if (!isContainer(value) || shape.kind === 'scalar' || shape.atomic) {
      // An atomic value counts by whether it is empty, since Go omits empty containers. The types of empty values decide whether it omits
      // a container of them.
      const isEmpty = isEmptyContainer(value);
      this.text += isEmpty ? ',' : '.';
      return !isContainer(value) || isEmpty || hasContent(value);
    }
    if (depth > maxDepth || this.text.length > maxSignature) return false;
    if (shape.kind === 'list') return Array.isArray(value) && this.#list(shape, value, depth + 1);
    if (shape.kind === 'any' || Array.isArray(value)) return false;
    if (shape.fields.size === 0) return this.#map(shape, value as Json, depth + 1);
    return this.#struct(shape, value as Json, depth + 1);
  }

  #struct(shape: MapShape, value: Json, depth: number): boolean {
    this.text += '{';
    for (const name in value) {
      const field = shape.fields.get(name);
      if (!field) return false;
      const child = value[name];
      if (shape.structured ? isAbsent(field, child) : child === undefined) continue;
      if (!this.#field(field, child, depth)) return false;
    }
    this.text += '}';
    return true;
  }

  #field(field: FieldShape, child: unknown, depth: number): boolean {
    // Ranks are below a few hundred: one character each.
    this.text += String.fromCharCode(firstRank + field.rank);
    if (isContainer(child) || child === null) return this.value(field.shape, child, depth);
    // Required fields with a zero value have no owner, since a new object is compared with an empty one.
    if (isZero(child)) this.text += '0';
    return true;
  }

  #map(shape: MapShape, map: Json, depth: number): boolean {
    const { values } = shape;
    if (!values) return false;
    this.text += '<';
    for (const name in map) {
      const child = map[name];
      if (child === undefined) continue;
      this.#key(name);
      if (!this.value(values, child, depth)) return false;
    }
    this.text += '>';
    return true;
  }

  #list(shape: ListShape, items: readonly unknown[], depth: number): boolean {
    this.text += '[';
    for (const item of items) if (!this.#item(shape, item, depth)) return false;
    this.text += ']';
    return true;
  }

  #item(shape: ListShape, item: unknown, depth: number): boolean {
    if (shape.keys.length === 0) return this.#keyValue(item);
    if (!isContainer(item)) return false;
    for (const name of shape.keys) if (!this.#keyValue(Object.hasOwn(item, name) ? (item as Json)[name] : undefined)) return false;
    return this.value(shape.items, item, depth);
  }

  #keyValue(value: unknown): boolean {
    if (isContainer(value)) return false;
    this.text += value === null ? 'null' : isNumber(value) ? 'number' : typeof value;
    this.#key(String(value));
    return true;
  }

  #key(text: string): void {
    this.text += `${text.length}:${text}`;
  }
}

/** Smallest character that denotes a field. */
const firstRank = 0x100;

/** True for a zero value that Go omits, except empty containers, which have another text. */
function isAbsent({ omitsZero }: FieldShape, value: unknown): boolean {
  return value === undefined || value === null || (omitsZero && isZero(value));
}

function isZero(value: unknown): boolean {
  return value === '' || value === 0 || value === false || value === 0n || (value instanceof Float64 && value.value === 0);
}

/** True if a value is, or has at any depth, a scalar that Go does not omit. */
function hasContent(value: unknown): boolean {
  if (!isContainer(value)) return value !== null && value !== undefined && !isZero(value);
  return Object.values(value).some(hasContent);
}

function isEmptyContainer(value: unknown): boolean {
  return isContainer(value) && isEmptyObject(value);
}
