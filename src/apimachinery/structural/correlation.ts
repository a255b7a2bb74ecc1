import { getOwn, isJsonObject, type JsonObject } from '../patch/own-property.ts';
import { deepEqual } from '../runtime/equality.ts';
import { encodeJson } from '../runtime/json/json.ts';
import { additionalPropertiesSchema, itemsSchema, type JsonSchemaProps } from './json-schema-props.ts';

/**
 * The old value that corresponds to a new one, so that unchanged invalid values stay valid. Upstream: apiserver/pkg/cel/common/equality.go.
 */
export interface Correlation {
  readonly old: unknown;
  /** Schema by which values of the old object are found. */
  readonly shape: JsonSchemaProps;
}

/** Returns the old value of a property; undefined if there was none, or if the schema does not describe it. */
export function oldProperty({ old, shape }: Correlation, name: string): Correlation | undefined {
  if (!isJsonObject(old) || !Object.hasOwn(old, name)) return undefined;
  const { properties } = shape;
  const property = properties && Object.hasOwn(properties, name) ? properties[name] : additionalPropertiesSchema(shape);
  return property && { old: getOwn(old, name), shape: property };
}

/** Returns a function that finds the old item of a new one by the keys of a map list; undefined for other lists. */
export function oldItems({ old, shape }: Correlation): ((item: unknown) => Correlation | undefined) | undefined {
  const items = itemsSchema(shape);
  if (!items || shape['x-kubernetes-list-type'] !== 'map' || !Array.isArray(old)) return undefined;
  const keys = shape['x-kubernetes-list-map-keys'] ?? [];
  const keyOf = (item: JsonObject): string => encodeJson(keys.map((key) => getOwn(item, key) ?? null));
  const byKey = new Map((old as unknown[]).filter(isJsonObject).map((item) => [keyOf(item), item]));
  return (item) => {
    const found = isJsonObject(item) ? byKey.get(keyOf(item)) : undefined;
    return found && { old: found, shape: items };
  };
}

/**
 * True if the value is unchanged. Items of map lists may be in another order, and a value that the schema does not describe counts as
 * changed. Upstream: CachedDeepEqual in apiserver/pkg/cel/common/equality.go.
 */
export function equalsOld(value: unknown, correlation: Correlation | undefined): boolean {
  if (!correlation) return false;
  const { old } = correlation;
  if (Array.isArray(value) && Array.isArray(old)) {
    const find = oldItems(correlation);
    if (!find) return deepEqual(value, old);
    return value.length === old.length && value.every((item) => equalsOld(item, find(item)));
  }
  if (isJsonObject(value) && isJsonObject(old)) {
    const names = Object.keys(value);
    return names.length === Object.keys(old).length && names.every((name) => equalsOld(value[name], oldProperty(correlation, name)));
  }
  return deepEqual(value, old);
}
