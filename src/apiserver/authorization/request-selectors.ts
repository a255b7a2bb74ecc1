import { parseFieldSelector } from '#apimachinery/fields/selector';
import { type LabelOperator, parseSelector } from '#apimachinery/labels/selector';
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
export function selectorsOf({
  fieldSelector,
  labelSelector,
}: SelectorTexts): Pick<AuthorizationAttributes, 'fieldSelector' | 'labelSelector'> {
  return { fieldSelector: attempt(() => fieldRequirements(fieldSelector)), labelSelector: attempt(() => labelRequirements(labelSelector)) };
}

function attempt<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch {
    return undefined;
  }
}

function fieldRequirements(text: string): SelectorRequirement[] | undefined {
  if (!text) return undefined;
  return parseFieldSelector(text).requirements.map(({ field, operator, value }) => ({
    key: field,
    operator: operator === '=' ? 'In' : 'NotIn',
    values: [value],
  }));
}

/**
 * Returns the requirements of a label selector without its numeric comparisons, which the API cannot express; the result then
 * selects more than the request.
 */
function labelRequirements(text: string): SelectorRequirement[] | undefined {
  if (!text) return undefined;
  return parseSelector(text).requirements.flatMap(({ key, operator, values }) => {
    const name = operators[operator];
    return name ? { key, operator: name, values } : [];
  });
}
