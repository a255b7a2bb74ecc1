import { isContainer } from '#apimachinery/runtime/numbers';
import { getOwn, isJsonObject, setOwn } from '../patch/own-property.ts';
import { deepCopy } from '../runtime/copy.ts';
import type { Steps } from '../runtime/steps.ts';
import { keysOf } from '../runtime/wide-objects.ts';
import type { Structural } from './structural.ts';

const isNonNullableNull = (value: unknown, schema: Structural | undefined): boolean =>
  value === null && schema !== undefined && !schema.nullable;

/**
 * Applies the defaults of a schema in place: to missing properties, and to nulls that are not nullable. Upstream:
 * apiextensions-apiserver/pkg/apiserver/schema/defaulting/algorithm.go.
 */
export function applyDefaults(value: unknown, schema: Structural | undefined): void {
  if (!schema?.hasDefaults) return;
  if (Array.isArray(value)) return defaultItems(value, schema.items);
  if (!isJsonObject(value)) return;
  for (const [name, property] of schema.properties) {
    if (property.default === undefined) continue;
    const present = getOwn(value, name);
    if (present === undefined || isNonNullableNull(present, property)) setOwn(value, name, deepCopy(property.default));
  }
  const { additionalProperties } = schema;
  for (const name of keysOf(value)) {
    const property = schema.properties.get(name);
    if (property) {
      applyDefaults(getOwn(value, name), property);
    } else if (additionalProperties) {
      if (isNonNullableNull(getOwn(value, name), additionalProperties)) setOwn(value, name, deepCopy(additionalProperties.default ?? null));
      applyDefaults(getOwn(value, name), additionalProperties);
    }
  }
}

function defaultItems(items: unknown[], schema: Structural | undefined): void {
  if (!schema) return;
  for (let i = 0; i < items.length; i++) {
    if (isNonNullableNull(items[i], schema)) items[i] = deepCopy(schema.default ?? null);
    applyDefaults(items[i], schema);
  }
}

const stepItems = 1_024;

/** Drops nulls that are neither nullable nor defaulted. Upstream: defaulting/prunenulls.go. */
export function* pruneNonNullableNullsWithoutDefaults(value: unknown, schema: Structural | undefined): Steps<void> {
  if (!schema) return;
  let done = 0;
  if (Array.isArray(value)) {
    for (const item of value as unknown[]) {
      if (++done % stepItems === 0) yield;
      if (isContainer(item)) yield* pruneNonNullableNullsWithoutDefaults(item, schema.items);
    }
    return;
  }
  if (!isJsonObject(value)) return;
  for (const name of keysOf(value)) {
    if (++done % stepItems === 0) yield;
    const property = schema.properties.get(name) ?? schema.additionalProperties;
    if (!property) continue;
    const present = getOwn(value, name);
    if (isNonNullableNull(present, property) && property.default === undefined) delete value[name];
    else if (isContainer(present)) yield* pruneNonNullableNullsWithoutDefaults(present, property);
  }
}
