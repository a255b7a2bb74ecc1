import { newBadRequest } from '#apimachinery/api/errors';
import type { FieldSelector } from '#apimachinery/fields/selector';
import { quote } from '#apimachinery/runtime/quote';
import { atOnce, inSteps, type Steps } from '#apimachinery/runtime/steps';
import { type ListQuery, readSelectors } from '#apiserver/request/list-options';
import type { ResourceDefinition } from '#apiserver/registry/resource-definition';
import type { CachedObject } from '#apiserver/storage/cacher/cached-object';
import { everything, type Predicate } from '#apiserver/storage/cacher/predicate';
import type { ResourceEndpoint } from './resource-endpoint.ts';
import { parseShardSelector } from './shard-selector.ts';

/** Number of characters above which parsing selectors yields to the event loop. */
const longSelector = 8_192;

/**
 * Returns the predicate of a list or watch; a promise if the selectors are long. `name` is the authorized name, from the path or
 * the field selector; empty: none. Throws, or rejects with, BadRequest for selectors that are invalid, name an unsupported field,
 * or do not select `name`. Upstream: endpoints/handlers/get.go (listOpts).
 */
export function selectionOf(
  definition: ResourceDefinition,
  options: Pick<ListQuery, 'labelSelector' | 'fieldSelector'>,
  name: string,
): Predicate | Promise<Predicate> {
  if (!options.labelSelector && !options.fieldSelector && !name) return everything;
  const steps = selectionSteps(definition, options, name);
  return options.labelSelector.length + options.fieldSelector.length > longSelector ? inSteps(steps) : atOnce(steps);
}

/**
 * Like `selectionOf`, for lists and watches of stored objects, which may be restricted to shards. Throws, or rejects with, an Error for an
 * invalid shard selector. Upstream: registry/store.go (ListPredicate, Watch).
 */
export function storedSelectionOf(
  { definition, isEnabled }: Pick<ResourceEndpoint, 'definition' | 'isEnabled'>,
  options: Pick<ListQuery, 'labelSelector' | 'fieldSelector' | 'shardSelector'>,
  name: string,
): Predicate | Promise<Predicate> {
  const selecting = selectionOf(definition, options, name);
  const { shardSelector } = options;
  if (!shardSelector || !isEnabled('ShardedListAndWatch')) return selecting;
  return selecting instanceof Promise
    ? selecting.then((selected) => inShards(selected, shardSelector))
    : inShards(selecting, shardSelector);
}

function inShards(selected: Predicate, shardSelector: string): Predicate {
  const shards = parseShardSelector(shardSelector);
  return {
    ...selected,
    key: JSON.stringify([selected.key, shards.text]),
    isEmpty: false,
    countsRemaining: selected.isEmpty,
    shards,
    matches: (object) => shards.matches(object) && selected.matches(object),
  };
}

function* selectionSteps(
  definition: ResourceDefinition,
  options: Pick<ListQuery, 'labelSelector' | 'fieldSelector'>,
  name: string,
): Steps<Predicate> {
  const { labels, fields: asked } = yield* readSelectors(options);
  for (const { field } of asked.requirements) checkField(definition, field);
  const { fieldLabels } = definition;
  const fields = fieldLabels ? asked.transform((label, value) => [fieldLabels[label] ?? label, value]) : asked;
  const selectedName = fields.requiresExactMatch('metadata.name');
  if (name && !fields.isEmpty() && selectedName !== name) throw newBadRequest("fieldSelector metadata.name doesn't match requested name");
  const exactName = name || selectedName;
  const labelKeys = [...new Set(labels.requirements.map(({ key }) => key))];
  return {
    get key() {
      return JSON.stringify([name, labels.toString(), fields.toString()]);
    },
    isEmpty: labels.isEmpty() && fields.isEmpty() && !name,
    exactName,
    exactNamespace: fields.requiresExactMatch('metadata.namespace'),
    exactField: indexedFieldOf(definition, fields),
    matches: (object: CachedObject) =>
      (!name || object.fields['metadata.name'] === name) &&
      (labels.isEmpty() || labels.matches(object.labelsOf(labelKeys))) &&
      (fields.isEmpty() || fields.matches(object.fields)),
  };
}

/** Returns the first indexed field for which the selector requires one value. */
function indexedFieldOf({ indexedFields = [] }: ResourceDefinition, fields: FieldSelector): Predicate['exactField'] {
  for (const field of indexedFields) {
    const value = fields.requiresExactMatch(field);
    if (value !== undefined) return { field, value };
  }
  return undefined;
}

/** True if field selectors of this version support the label. */
export function isSelectable({ namespaced, selectableFields, fieldLabels, unsupportedField }: ResourceDefinition, label: string): boolean {
  if (label === 'metadata.name' || Object.hasOwn(fieldLabels ?? selectableFields, label)) return true;
  return label === 'metadata.namespace' && (namespaced || !unsupportedField);
}

function checkField(definition: ResourceDefinition, label: string): void {
  if (isSelectable(definition, label)) return;
  throw newBadRequest(
    definition.unsupportedField?.(label) ?? `${quote(label)} is not a known field selector: only "metadata.name", "metadata.namespace"`,
  );
}
