/**
 * Resource rules of policies and webhooks. Upstream: apiserver/pkg/admission/plugin/webhook/predicates/rules/rules.go,
 * plugin/policy/matching.
 */
import type { GroupVersionResource } from '#apimachinery/meta/types';
import type { Attributes } from './attributes.ts';
import type { EquivalentResource } from './object-forms.ts';

/** A resource rule. Upstream: admissionregistration.k8s.io NamedRuleWithOperations. */
export interface NamedRuleWithOperations {
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly operations?: readonly string[];
  readonly scope?: string;
}

/** Attributes of a request that rules match; names are matched by `RuleMatch`. */
export type RuleRequest = Pick<Attributes, 'resource' | 'subresource' | 'operation' | 'namespace' | 'kind'> & {
  readonly forms: { readonly equivalents: readonly EquivalentResource[] };
};

/** A rule that matches a request if the object's name matches. */
export interface RuleMatch extends EquivalentResource {
  /** Object names; empty: any. */
  readonly names: ReadonlySet<string>;
}

function has(list: readonly string[] | undefined, value: string): boolean {
  return list !== undefined && (list.includes('*') || list.includes(value));
}

function matchesResource(rule: NamedRuleWithOperations, resource: string, subresource: string): boolean {
  return (rule.resources ?? []).some((wanted) => {
    const slash = wanted.indexOf('/');
    const [wantedResource, wantedSubresource] = slash < 0 ? [wanted, ''] : [wanted.slice(0, slash), wanted.slice(slash + 1)];
    return (wantedResource === '*' || wantedResource === resource) && (wantedSubresource === '*' || wantedSubresource === subresource);
  });
}

/** Matches the scope. A namespace is cluster-scoped here, although its requests have a namespace. */
function matchesScope({ scope = '*' }: NamedRuleWithOperations, resource: GroupVersionResource, namespace: string): boolean {
  if (scope === '*') return true;
  const isNamespace = resource.group === '' && resource.resource === 'namespaces';
  return scope === 'Namespaced' ? !isNamespace && namespace !== '' : isNamespace || namespace === '';
}

/** True if a rule matches a request for a resource. */
function matches(rule: NamedRuleWithOperations, request: RuleRequest, resource: GroupVersionResource): boolean {
  return (
    matchesScope(rule, resource, request.namespace) &&
    has(rule.operations, request.operation) &&
    has(rule.apiGroups, resource.group) &&
    has(rule.apiVersions, resource.version) &&
    matchesResource(rule, resource.resource, request.subresource)
  );
}

/**
 * Returns all rules that match a request: those for its own resource first, then, unless `exact`, those for other versions and
 * groups of it.
 */
export function matchingRules(rules: readonly NamedRuleWithOperations[], exact: boolean, request: RuleRequest): RuleMatch[] {
  const match = (rule: NamedRuleWithOperations, { resource, kind }: EquivalentResource): RuleMatch[] =>
    matches(rule, request, resource) ? [{ resource, kind, names: new Set(rule.resourceNames) }] : [];
  const own = rules.flatMap((rule) => match(rule, request));
  if (exact) return own;
  return [...own, ...rules.flatMap((rule) => request.forms.equivalents.flatMap((equivalent) => match(rule, equivalent)))];
}

/** Returns the first match for an object name. */
export function matchOfName(found: readonly RuleMatch[], name: string): RuleMatch | undefined {
  return found.find(({ names }) => names.size === 0 || names.has(name));
}
