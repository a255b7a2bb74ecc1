/** Functions that controllers with a pod template share. */
import {
  LabelSelectorError,
  type LabelRequirement,
  type LabelSelectorSource,
  newRequirement,
  requirementOf,
} from '#apimachinery/labels/selector';
import { metaSchema } from '#apimachinery/meta/schema/schema';
import { encode } from '#apimachinery/runtime/encode';
import { keysOf } from '#apimachinery/runtime/wide-objects';
import { isEmptyObject } from '#apimachinery/patch/own-property';
import type { LabelSelector } from '#apimachinery/meta/schema/meta_v1.gen';
import { addErrors, type FieldError, type JsonText, type Path, invalid } from '#apimachinery/validation/field';
import { validateLabelSelector } from '#apimachinery/validation/object-meta';
import { checkEach } from '#apimachinery/validation/pausing';
import type { PodTemplateSpec } from '#kubernetes/schema/core_v1.gen';
import { internalValue, labelSelectorValue } from '#kubernetes/apis/core/validation/internal';
import { structValue } from './struct-value.ts';

type Labels = Readonly<Record<string, string>>;

/** A selector from a client, in which required fields may be missing. */
const source = (selector: LabelSelector | undefined) => selector as LabelSelectorSource | undefined;

export function validateSelector(
  errors: FieldError[],
  selector: LabelSelector | undefined,
  path: Path,
  allowInvalidLabelValueInSelector = false,
): void {
  if (!selector) return;
  const found = validateLabelSelector(source(selector), { allowInvalidLabelValueInSelector }, path);
  if (found.length > 0) addErrors(errors, found);
}

export function isEmptySelector({ matchLabels, matchExpressions }: LabelSelector): boolean {
  return !matchExpressions?.length && (!matchLabels || isEmptyObject(matchLabels));
}

const noLabels: Labels = {};

/**
 * True if the selector matches pods with these labels; undefined if it is invalid. An absent selector matches nothing. A chunked validation
 * may pause between two requirements.
 */
export function selects(selector: LabelSelector | undefined, labels: Labels = noLabels): boolean | undefined {
  if (!selector) return false;
  const { matchLabels = noLabels, matchExpressions = [] } = source(selector) ?? {};
  try {
    const haveLabels = meetsEach(matchLabels, keysOf(matchLabels), labels, (key) => {
      const value = matchLabels[key];
      return value === undefined ? undefined : newRequirement(key, '=', [value]);
    });
    const meetExpressions = meetsEach(matchExpressions, matchExpressions, labels, requirementOf);
    return haveLabels && meetExpressions;
  } catch (error) {
    if (error instanceof LabelSelectorError) return undefined;
    throw error;
  }
}

/** True if the labels meet the requirement of each item. The labels distinguish several matches of one selector in a validation. */
function meetsEach<T>(
  container: object,
  items: readonly T[],
  labels: Labels,
  requirementOfItem: (item: T) => LabelRequirement | undefined,
): boolean {
  const allMet = (): { isMet: boolean } => ({ isMet: true });
  const { state } = checkEach(container, labels, items, allMet, (_errors, item, _index, found) => {
    if (requirementOfItem(item)?.matches(labels) === false) found.isMet = false;
  });
  return state.isMet;
}

/** Returns the error of a template whose pods its own selector does not match. `path` is that of the template. */
export function templateLabelsError(template: PodTemplateSpec, path: Path): FieldError {
  return invalid(path.child('metadata', 'labels'), template.metadata?.labels, '`selector` does not match template `labels`');
}

/** Formats a bad value that is a selector; undefined is printed as null. */
export function selectorValue(selector: LabelSelector | undefined): JsonText | undefined {
  return selector && labelSelectorValue(selector);
}

/** Formats a bad value that is a template. */
export function templateValue({ metadata = {}, spec = {} }: PodTemplateSpec): JsonText {
  return structValue({
    ...(JSON.parse(encode(metaSchema.struct('meta_v1.ObjectMeta'), metadata)) as object),
    Spec: internalValue('PodSpec', spec),
  });
}
