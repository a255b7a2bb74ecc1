import { newBadRequest } from '#apimachinery/api/errors';
import { type FieldSelector, FieldSelectorError, parseFieldSelectorSteps } from '#apimachinery/fields/selector';
import { type LabelSelector, LabelSelectorError, parseSelectorSteps } from '#apimachinery/labels/selector';
import { quote } from '#apimachinery/runtime/quote';
import { atOnce, inSteps, type Steps } from '#apimachinery/runtime/steps';
import type { RequestContext } from '#apiserver/endpoints/request/request-context';
import type { ResourceDefinition } from '#apiserver/registry/resource-definition';
import type { CachedObject } from '#apiserver/storage/cacher/cached-object';
import { everything, type Predicate } from '#apiserver/storage/cacher/predicate';
import type { ListQuery } from './query-options.ts';

/** Selectors of more characters are read in steps. */
const longSelector = 8_192;

/**
 * The predicate of the labels and fields that a list or watch selects; a promise of it if the selectors are long. Throws, or rejects with, BadRequest for selectors that cannot be
 * read, or that name a field which cannot be selected.
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

function* selectionSteps(
  definition: ResourceDefinition,
  options: Pick<ListQuery, 'labelSelector' | 'fieldSelector'>,
  name: string,
): Steps<Predicate> {
  const { labels, fields } = yield* readSelectors(options);
  for (const { field } of fields.requirements) checkField(definition, field);
  const exactName = name || fields.requiresExactMatch('metadata.name');
  const nodeName = fields.requiresExactMatch('spec.nodeName');
  const labelKeys = [...new Set(labels.requirements.map(({ key }) => key))];
  return {
    get key() {
      return `${name}|${labels.toString()}|${fields.toString()}`;
    },
    isEmpty: labels.isEmpty() && fields.isEmpty() && !name,
    exactName,
    exactField: nodeName === undefined ? undefined : { field: 'spec.nodeName', value: nodeName },
    matches: (object: CachedObject) =>
      (!name || object.fields['metadata.name'] === name) &&
      (labels.isEmpty() || labels.matches(object.labelsOf(labelKeys))) &&
      (fields.isEmpty() || fields.matches(object.fields)),
  };
}

/** Throws BadRequest for selectors that cannot be read. */
export function* readSelectors({ labelSelector, fieldSelector }: Pick<ListQuery, 'labelSelector' | 'fieldSelector'>): Steps<{
  readonly labels: LabelSelector;
  readonly fields: FieldSelector;
}> {
  return {
    labels: yield* parse(parseSelectorSteps(labelSelector), LabelSelectorError),
    fields: yield* parse(parseFieldSelectorSteps(fieldSelector), FieldSelectorError),
  };
}

function* parse<T>(steps: Steps<T>, error: new (...args: never[]) => Error): Steps<T> {
  try {
    return yield* steps;
  } catch (cause) {
    if (cause instanceof error) throw newBadRequest(cause.message);
    throw cause;
  }
}

function checkField(definition: ResourceDefinition, label: string): void {
  if (label === 'metadata.name' || label === 'metadata.namespace' || Object.hasOwn(definition.selectableFields, label)) return;
  throw newBadRequest(
    definition.unsupportedField?.(label) ?? `${quote(label)} is not a known field selector: only "metadata.name", "metadata.namespace"`,
  );
}

/** The name that a watch of `/api/v1/watch/…/name` is about. */
export function watchedName({ info }: RequestContext): string {
  return info.parts.length > 1 ? (info.parts[1] ?? '') : '';
}
