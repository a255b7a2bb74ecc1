import { isContainer } from '#apimachinery/runtime/numbers';
import { getOwn, isJsonObject, type JsonObject } from '../patch/own-property.ts';
import type { Steps } from '../runtime/steps.ts';
import { keysOf } from '../runtime/wide-objects.ts';
import { sortedSteps } from '../runtime/sorting.ts';
import type { Structural } from './structural.ts';
import { UnknownFields } from './unknown-fields.ts';

const metaFields: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

const stepItems = 1_024;

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * Drops fields that the schema does not declare, in place, and returns their sorted paths. The root of a resource keeps kind, apiVersion
 * and metadata. Upstream: apiextensions-apiserver/pkg/apiserver/schema/pruning/algorithm.go.
 */
export function* prune(value: unknown, schema: Structural, isResourceRoot: boolean): Steps<string[]> {
  const unknown = new UnknownFields();
  yield* pruneValue(value, isResourceRoot ? schema.asResourceRoot() : schema, unknown);
  yield;
  return yield* sortedSteps(unknown.paths, compareText);
}

function* pruneValue(value: unknown, schema: Structural | undefined, unknown: UnknownFields): Steps<void> {
  if (!isContainer(value)) return;
  if (!schema) return dropAll(value, unknown);
  if (schema.preserveUnknownFields) return yield* pruneKnown(value, schema, unknown);
  if (Array.isArray(value)) return yield* pruneItems(value, schema.items, unknown);
  yield* pruneMembers(value as JsonObject, schema, unknown, true);
}

/** Prunes the declared fields of an object; drops the others or keeps them. */
function* pruneMembers(object: JsonObject, schema: Structural, unknown: UnknownFields, dropsOthers: boolean): Steps<void> {
  let done = 0;
  for (const key of keysOf(object)) {
    if (++done % stepItems === 0) yield;
    if (schema.embeddedResource && metaFields.has(key)) continue;
    const property = schema.properties.get(key);
    if (property) yield* within(key, object, property, unknown);
    else if (schema.props.additionalProperties !== undefined) yield* within(key, object, schema.additionalProperties, unknown);
    else if (dropsOthers && Object.hasOwn(object, key)) {
      if (!metaFields.has(key) || !unknown.atRoot) unknown.record(key);
      delete object[key];
    }
  }
}

function* within(key: string, object: JsonObject, schema: Structural | undefined, unknown: UnknownFields): Steps<void> {
  const value = getOwn(object, key);
  if (!isContainer(value)) return;
  unknown.enter(key);
  yield* pruneValue(value, schema, unknown);
  unknown.leave();
}

function* pruneItems(items: readonly unknown[], schema: Structural | undefined, unknown: UnknownFields): Steps<void> {
  for (const [index, item] of items.entries()) {
    if (!isContainer(item)) continue;
    unknown.enter(index);
    yield* pruneValue(item, schema, unknown);
    unknown.leave();
    if (index % stepItems === stepItems - 1) yield;
  }
}

/** Prunes the declared fields of a value that preserves unknown ones. */
function* pruneKnown(value: object, schema: Structural, unknown: UnknownFields): Steps<void> {
  if (Array.isArray(value)) {
    if (!schema.items) return;
    for (const [index, item] of (value as unknown[]).entries()) {
      if (!isContainer(item)) continue;
      unknown.enter(index);
      yield* pruneKnown(item, schema.items, unknown);
      unknown.leave();
      if (index % stepItems === stepItems - 1) yield;
    }
    return;
  }
  yield* pruneMembers(value as JsonObject, schema, unknown, false);
}

/** Drops all fields of a value without a schema. Not recursive, since lists may be as deep as JSON. */
function dropAll(value: object, unknown: UnknownFields): void {
  const open: { readonly list: readonly unknown[]; next: number }[] = [];
  const visit = (item: unknown): void => {
    if (Array.isArray(item)) open.push({ list: item, next: 0 });
    else if (isJsonObject(item)) {
      for (const key of keysOf(item)) {
        if (!Object.hasOwn(item, key)) continue;
        unknown.record(key);
        delete item[key];
      }
    }
  };
  visit(value);
  for (let top = open.at(-1); top; top = open.at(-1)) {
    if (top.next > 0) unknown.leave();
    if (top.next === top.list.length) {
      open.pop();
      continue;
    }
    unknown.enter(top.next);
    visit(top.list[top.next++]);
  }
}
