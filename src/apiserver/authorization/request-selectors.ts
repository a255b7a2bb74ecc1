import { parseFieldSelector } from '#apimachinery/fields/selector';
import { type LabelOperator, parseSelector } from '#apimachinery/labels/selector';
import type { AuthorizationAttributes, SelectorRequirement } from './authorizer.ts';

const verbs = new Set(['list', 'watch', 'deletecollection']);

const operators: Readonly<Partial<Record<LabelOperator, SelectorRequirement['operator']>>> = {
  in: 'In',
  '=': 'In',
  '==': 'In',
  notin: 'NotIn',
  '!=': 'NotIn',
  exists: 'Exists',
  '!': 'DoesNotExist',
};

/** The selectors of a request, as authorizers see them; a wrong one limits nothing here and is refused later. Upstream: endpoints/filters/authorization.go. */
export function selectorsOf(verb: string, query: URLSearchParams): Pick<AuthorizationAttributes, 'fieldSelector' | 'labelSelector'> {
  return verbs.has(verb) ? selectorsIn(query) : {};
}

/** The selectors in the parameters `fieldSelector` and `labelSelector`. */
export function selectorsIn(query: URLSearchParams): Pick<AuthorizationAttributes, 'fieldSelector' | 'labelSelector'> {
  return { fieldSelector: attempt(() => fieldRequirements(query)), labelSelector: attempt(() => labelRequirements(query)) };
}

function attempt<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch {
    return undefined;
  }
}

function fieldRequirements(query: URLSearchParams): SelectorRequirement[] | undefined {
  const text = query.get('fieldSelector');
  if (!text) return undefined;
  return parseFieldSelector(text).requirements.map(({ field, operator, value }) => ({
    key: field,
    operator: operator === '=' ? 'In' : 'NotIn',
    values: [value],
  }));
}

/** Comparisons have no form among the requirements: they are left out, which makes the rest a weaker limit than the request's own. */
function labelRequirements(query: URLSearchParams): SelectorRequirement[] | undefined {
  const text = query.get('labelSelector');
  if (!text) return undefined;
  return parseSelector(text).requirements.flatMap(({ key, operator, values }) => {
    const name = operators[operator];
    return name ? { key, operator: name, values } : [];
  });
}
