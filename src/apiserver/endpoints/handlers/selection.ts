import { newBadRequest } from '#apimachinery/api/errors';
import { type FieldSelector, FieldSelectorError, parseFieldSelector } from '#apimachinery/fields/selector';
import { type LabelSelector, LabelSelectorError, parseSelector } from '#apimachinery/labels/selector';
import { quote } from '#apimachinery/runtime/quote';
import type { RequestContext } from '#apiserver/endpoints/request/request-context';
import type { ResourceDefinition } from '#apiserver/registry/resource-definition';
import type { CachedObject } from '#apiserver/storage/cacher/cached-object';
import { everything, type Predicate } from '#apiserver/storage/cacher/predicate';
import type { ListQuery } from './query-options.ts';

/** What a list or watch selects by labels and fields. Throws BadRequest for selectors that cannot be read, or ask for a field that cannot be asked for. */
export function selectionOf(
  definition: ResourceDefinition,
  options: Pick<ListQuery, 'labelSelector' | 'fieldSelector'>,
  name: string,
): Predicate {
  if (!options.labelSelector && !options.fieldSelector && !name) return everything;
  const { labels, fields } = readSelectors(options);
  for (const { field } of fields.requirements) checkField(definition, field);
  const exactName = name || fields.requiresExactMatch('metadata.name');
  const nodeName = fields.requiresExactMatch('spec.nodeName');
  const labelKeys = labels.requirements.map(({ key }) => key);
  return {
    key: `${name}|${labels.toString()}|${fields.toString()}`,
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
export function readSelectors({ labelSelector, fieldSelector }: Pick<ListQuery, 'labelSelector' | 'fieldSelector'>): {
  readonly labels: LabelSelector;
  readonly fields: FieldSelector;
} {
  return {
    labels: parse(() => parseSelector(labelSelector), LabelSelectorError),
    fields: parse(() => parseFieldSelector(fieldSelector), FieldSelectorError),
  };
}

function parse<T>(read: () => T, error: new (...args: never[]) => Error): T {
  try {
    return read();
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
