import { random } from '../fault/random.ts';

/** Paths of a kind's fields, and values for them, valid and invalid ones, from its OpenAPI v3 schema. */

export type Json = Readonly<Record<string, unknown>>;

export interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly required?: readonly string[];
  readonly 'x-kubernetes-group-version-kind'?: readonly { readonly group: string; readonly version: string; readonly kind: string }[];
}

/** A step to a field, or to the first item of a list. */
type Step = { readonly field: string; readonly schema: Schema } | { readonly item: true };
export type FieldPath = readonly Step[];

const maxDepth = 10;
/** Fields of the metadata that clients set. */
const metadata = new Set(['name', 'generateName', 'labels', 'annotations', 'finalizers', 'ownerReferences', 'namespace']);
const time = '2020-01-01T00:00:00Z';
const microTime = '2020-01-01T00:00:00.000000Z';
const long = 'x'.repeat(254);

const texts = [
  ...['a', '', 'A_b', 'x'.repeat(64), long, 'a/b', 'a.b/c', '1', '10%', '1.2.3.4', '::1', '10.0.0.0/24', ' a', '/abs', '../x', '/a/../b'],
  ...['ü', 'a.b', '-a', 'None', 'true', 'https://a.b/c', '1Gi', '*', 'a:b', '$(A)', '0'],
];
const quantities = ['1', '-1', '1.5', '1e3', '1Ki', 'x', '', 0.1, 5, '100m', '1n', '9999999999999999999999'];
const integers = [65536, 100, 2 ** 31, 2, 301, 1.5, '5', -(2 ** 31) - 1, 1e10, true];

export class KindSchema {
  constructor(
    private readonly schemas: Readonly<Record<string, Schema>>,
    private readonly root: Schema,
  ) {}

  /** Yields the paths of all fields, except those of the status and the system. A type is not entered again below itself. */
  *paths(): Generator<FieldPath> {
    for (const path of this.#below(this.root, [], new Set())) {
      const [first, second] = path.map((step) => ('field' in step ? step.field : ''));
      if (first === 'kind' || first === 'apiVersion' || first === 'status') continue;
      if (first === 'metadata' && second !== undefined && !metadata.has(second)) continue;
      yield path;
    }
  }

  *#below(schema: Schema, at: FieldPath, above: ReadonlySet<string>): Generator<FieldPath> {
    const typeName = nameOf(schema);
    if (at.length > maxDepth || above.has(typeName) || isLeaf(typeName)) return;
    const within = typeName === '' ? above : new Set([...above, typeName]);
    const { type, items, properties = {} } = this.#resolve(schema);
    if (type === 'array' && items) return yield* this.#below(items, [...at, { item: true }], within);
    // Servers may list the properties in any order.
    for (const field of Object.keys(properties).sort()) {
      const path = [...at, { field, schema: properties[field]! }];
      yield path;
      yield* this.#below(properties[field]!, path, within);
    }
  }

  #resolve(schema: Schema): Schema {
    const reference = nameOf(schema);
    return reference === '' ? schema : this.#resolve(this.schemas[reference] ?? {});
  }

  /** Returns a valid value, as far as the schema defines validity. */
  sample(schema: Schema, field: string, depth = 0): unknown {
    const typeName = nameOf(schema);
    if (typeName.endsWith('.Quantity')) return '1';
    if (typeName.endsWith('.IntOrString')) return 1;
    if (typeName.endsWith('.Time')) return time;
    if (typeName.endsWith('.MicroTime')) return microTime;
    if (typeName.endsWith('.JSONSchemaProps')) return { type: 'object' };
    const { type, enum: known, format, items, required = [], properties = {}, additionalProperties } = this.#resolve(schema);
    if (known) return known[0];
    switch (type) {
      case 'string':
        return /path/i.test(field) ? '/p' : format === 'byte' ? 'YQ==' : 'a';
      case 'integer':
      case 'number':
        return 1;
      case 'boolean':
        return true;
      case 'array':
        return depth > 3 || !items ? [] : [this.sample(items, field, depth + 1)];
      default:
        if (additionalProperties) return { a: this.sample(additionalProperties, field, depth + 1) };
        return Object.fromEntries(
          required.flatMap((member) => (properties[member] ? [[member, this.sample(properties[member], member, depth + 1)]] : [])),
        );
    }
  }

  /** Returns about six values for a field. `seed` decides which. */
  values(schema: Schema, field: string, seed: number): unknown[] {
    const below = random(seed);
    const some = (list: readonly unknown[], count: number): unknown[] => {
      const left = [...list];
      return Array.from({ length: Math.min(count, list.length) }, () => left.splice(below(left.length), 1)[0]);
    };
    const typeName = nameOf(schema);
    if (typeName.endsWith('.Quantity')) return some(quantities, 5);
    if (typeName.endsWith('.IntOrString')) return some([0, 1, -1, '50%', '-5%', '101%', 'a', 'a-port-name-too-long', '', 1.5, 70000], 6);
    if (isTime(typeName)) return some([time, '2020-01-01T00:00:00.123456Z', 'x', '', 5, '2020-01-01T00:00:00+02:00'], 4);
    const { type, enum: known, format, items, additionalProperties } = this.#resolve(schema);
    if (known) return [...some(known, 4), 'Bogus', ''];
    switch (type) {
      case 'string':
        return format === 'byte' ? ['YQ==', 'x', '', 'YQ', 5] : [...some(texts, 6), ...some([5, true, {}, []], 1)];
      case 'integer':
        return [0, 1, -1, ...some(integers, 3)];
      case 'number':
        return [0, 1.5, -1, '5'];
      case 'boolean':
        return [true, false, ...some(['true', 1, 0], 1)];
      case 'array': {
        const item = items && this.sample(items, field);
        return [[], [item], [item, item], ...some([[null], {}, 'a', 5], 1)];
      }
      case 'object': {
        if (!additionalProperties) return [{}, this.sample(schema, field), ...some([[], 'a', 5], 1)];
        const value = this.sample(additionalProperties, field);
        return [
          {},
          { a: value },
          { 'A b': value },
          { 'k8s.io/x': value },
          ...some([[], 'a', { '': value }, { ['x'.repeat(70)]: value }], 1),
        ];
      }
      default:
        return [{}, { a: 1 }, 'a', 5, [1]];
    }
  }

  /** Returns a copy of an object with a value at a path. Absent parents get the members that their schema requires. */
  put(object: Json, path: FieldPath, value: unknown): Json {
    return this.#put(object, path, value) as Json;
  }

  #put(at: unknown, [step, ...rest]: FieldPath, value: unknown): unknown {
    if (!step) return value;
    if ('item' in step) {
      const [first, ...others] = Array.isArray(at) ? (at as unknown[]) : [];
      return [this.#put(first, rest, value), ...others];
    }
    const parent = isObject(at) ? at : {};
    const { field, schema } = step;
    const present = parent[field];
    const isUsable = rest[0] && 'item' in rest[0] ? Array.isArray(present) && present.length > 0 : isObject(present);
    return { ...parent, [field]: this.#put(rest.length === 0 || isUsable ? present : this.sample(schema, field), rest, value) };
  }
}

export const formatPath = (path: FieldPath): string => path.map((step) => ('item' in step ? '0' : step.field)).join('.');

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

function nameOf({ $ref, allOf }: Schema): string {
  return ($ref ?? (allOf?.length === 1 ? allOf[0]?.$ref : undefined))?.split('/').pop() ?? '';
}

const isTime = (typeName: string): boolean => /\.(Micro)?Time$/.test(typeName);
const isLeaf = (typeName: string): boolean => isTime(typeName) || /\.(Quantity|IntOrString|FieldsV1|RawExtension)$/.test(typeName);
