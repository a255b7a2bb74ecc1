/** Validation of match resources and rules of policies and webhooks. Upstream: pkg/apis/admissionregistration/validation/validation.go. */
import { addErrors, duplicate, type FieldError, invalid, notSupported, type Path, required } from '#apimachinery/validation/field';
import { isValidPathSegmentName } from '#apimachinery/validation/names';
import type { LabelSelectorSource } from '#apimachinery/labels/selector';
import type { LabelSelector } from '#apimachinery/meta/schema/meta_v1.gen';
import { validateLabelSelector } from '#apimachinery/validation/object-meta';
import { errorsOfEach } from '#apimachinery/validation/pausing';
import type { MatchResources, NamedRuleWithOperations, RuleWithOperations } from '#kubernetes/schema/admissionregistration_v1.gen';

export const failurePolicies = ['Fail', 'Ignore'];
export const matchPolicies = ['Equivalent', 'Exact'];
export const reinvocationPolicies = ['IfNeeded', 'Never'];
const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const mutatingOperations = ['*', 'CONNECT', 'CREATE', 'UPDATE'];
const scopes = ['*', 'Cluster', 'Namespaced'];

/** Validates an optional value against a list of choices. */
export function validateChoice(path: Path, value: string | undefined, choices: readonly string[]): FieldError[] {
  return value === undefined || choices.includes(value) ? [] : [notSupported(path, value, choices)];
}

/** Validates a required value against a list of choices. */
export function validateRequiredChoice(path: Path, value: string | undefined, choices: readonly string[]): FieldError[] {
  return value === undefined || value === '' ? [required(path)] : validateChoice(path, value, choices);
}

/** Validates a label selector. `allowsInvalidValues` accepts invalid label values, as stored selectors may have them. */
export function validateSelector(selector: LabelSelector | undefined, path: Path, allowsInvalidValues = false): FieldError[] {
  return validateLabelSelector(
    selector as LabelSelectorSource | undefined,
    { allowInvalidLabelValueInSelector: allowsInvalidValues },
    path,
  );
}

export function validateMatchResources(resources: MatchResources | undefined, path: Path): FieldError[] {
  if (!resources) return [];
  const { matchPolicy, namespaceSelector, objectSelector, resourceRules = [], excludeResourceRules = [] } = resources;
  const errors =
    matchPolicy === undefined
      ? [required(path.child('matchPolicy'))]
      : validateChoice(path.child('matchPolicy'), matchPolicy, matchPolicies);
  for (const [name, selector] of Object.entries({ namespaceSelector, objectSelector })) {
    addErrors(errors, selector ? validateSelector(selector, path.child(name)) : [required(path.child(name))]);
  }
  for (const [name, rules] of Object.entries({ resourceRules, excludeResourceRules })) {
    const visit = (found: FieldError[], rule: NamedRuleWithOperations, i: number): void =>
      addErrors(found, validateNamedRule(rule, path.child(name).index(i)));
    addErrors(errors, errorsOfEach(rules, path.child(name), rules, visit));
  }
  return errors;
}

/** Rejects operations that a mutating policy cannot handle. */
export function validateMutatingOperations(resources: MatchResources | undefined, path: Path): FieldError[] {
  const all = (resources?.resourceRules ?? []).flatMap((rule) => rule.operations ?? []);
  return all.flatMap((operation) => validateChoice(path.child('resourceRules', 'operations'), operation, mutatingOperations));
}

function validateNamedRule(rule: NamedRuleWithOperations, path: Path): FieldError[] {
  const seen = new Set<string>();
  const errors = (rule.resourceNames ?? []).flatMap((name, i) => {
    const at = path.child('resourceNames').index(i);
    const wrong = isValidPathSegmentName(name).map((message) => invalid(at, name, message));
    if (seen.has(name)) wrong.push(duplicate(at, name));
    seen.add(name);
    return wrong;
  });
  return [...errors, ...validateRule(rule, path)];
}

export function validateRule(rule: RuleWithOperations, path: Path): FieldError[] {
  const errors = validateWildcard(rule.operations, path.child('operations'), 'operations');
  for (const [i, operation] of (rule.operations ?? []).entries()) {
    addErrors(errors, validateChoice(path.child('operations').index(i), operation, operations));
  }
  addErrors(errors, validateWildcard(rule.apiGroups, path.child('apiGroups'), 'API groups'));
  addErrors(errors, validateWildcard(rule.apiVersions, path.child('apiVersions'), 'API versions'));
  for (const [i, version] of (rule.apiVersions ?? []).entries()) {
    if (version === '') errors.push(required(path.child('apiVersions').index(i)));
  }
  return [
    ...errors,
    ...validateResources(rule.resources ?? [], path.child('resources')),
    ...validateChoice(path.child('scope'), rule.scope, scopes),
  ];
}

function validateWildcard(items: readonly string[] = [], path: Path, what: string): FieldError[] {
  if (items.length === 0) return [required(path)];
  return items.length > 1 && items.includes('*') ? [invalid(path, items, `if '*' is present, must not specify other ${what}`)] : [];
}

function validateResources(resources: readonly string[], path: Path): FieldError[] {
  const errors: FieldError[] = resources.length === 0 ? [required(path)] : [];
  const anySubresource = new Set<string>();
  const anyResource = new Set<string>();
  let endsPlain = false;
  for (const [i, text] of resources.entries()) {
    const at = path.index(i);
    const slash = text.indexOf('/');
    if (text === '') {
      errors.push(required(at));
    } else if (slash < 0) {
      endsPlain = text !== '*';
    } else {
      const [resource, subresource] = [text.slice(0, slash), text.slice(slash + 1)];
      if (anySubresource.has(resource)) errors.push(invalid(at, text, `if '${resource}/*' is present, must not specify ${text}`));
      if (anyResource.has(subresource)) errors.push(invalid(at, text, `if '*/${subresource}' is present, must not specify ${text}`));
      if (subresource === '*') anySubresource.add(resource);
      if (resource === '*') anyResource.add(subresource);
    }
  }
  if (resources.length > 1 && resources.includes('*/*'))
    errors.push(invalid(path, resources, "if '*/*' is present, must not specify other resources"));
  if (resources.includes('*') && endsPlain)
    errors.push(invalid(path, resources, "if '*' is present, must not specify other resources without subresources"));
  return errors;
}
