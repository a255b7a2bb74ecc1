import { parseFieldSelectorSteps } from '#apimachinery/fields/selector';
import { type LabelOperator, parseSelectorSteps } from '#apimachinery/labels/selector';
import { atOnce, type Steps } from '#apimachinery/runtime/steps';
import type { AuthorizationAttributes, SelectorRequirement } from './authorizer.ts';

const operators: Readonly<Partial<Record<LabelOperator, SelectorRequirement['operator']>>> = {
  in: 'In',
  '=': 'In',
  '==': 'In',
  notin: 'NotIn',
  '!=': 'NotIn',
  exists: 'Exists',
  '!': 'DoesNotExist',
};

/** Unparsed selectors of a request; empty if it has none. */
export interface SelectorTexts {
  readonly fieldSelector: string;
  readonly labelSelector: string;
}

/**
 * Returns the parsed selectors for authorizers. An unparsable selector is omitted; the handler rejects the request. Upstream:
 * endpoints/filters/authorization.go.
 */
export function selectorsOf(texts: SelectorTexts): Selectors {
  return atOnce(selectorsSteps(texts));
}

/** Like `selectorsOf`, but yields to the event loop. */
export function* selectorsSteps({ fieldSelector, labelSelector }: SelectorTexts): Steps<Selectors> {
  return {
    fieldSelector: yield* attempt(fieldRequirements(fieldSelector)),
    labelSelector: yield* attempt(labelRequirements(labelSelector)),
  };
}

type Selectors = Pick<AuthorizationAttributes, 'fieldSelector' | 'labelSelector'>;

function* attempt<T>(parse: Steps<T>): Steps<T | undefined> {
  try {
    return yield* parse;
  } catch {
    return undefined;
  }
}

function* fieldRequirements(text: string): Steps<SelectorRequirement[] | undefined> {
  if (!text) return undefined;
  const { requirements } = yield* parseFieldSelectorSteps(text);
  yield;
  return requirements.map(({ field, operator, value }) => ({
    key: field,
    operator: operator === '=' ? 'In' : 'NotIn',
    values: [value],
  }));
}

/**
 * Returns the requirements of a label selector without its numeric comparisons, which the API cannot express; the result then
 * selects more than the request.
 */
function* labelRequirements(text: string): Steps<SelectorRequirement[] | undefined> {
  if (!text) return undefined;
  const { requirements } = yield* parseSelectorSteps(text);
  yield;
  return requirements.flatMap(({ key, operator, values }) => {
    const name = operators[operator];
    return name ? { key, operator: name, values } : [];
  });
}
