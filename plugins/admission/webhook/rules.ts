import type { Attributes, GroupVersionResource } from 'kubenest/sdk';
import type { Rule } from './webhook-types.ts';

/** Whether a rule is about a request, were it for `resource`. Upstream: plugin/webhook/predicates/rules/rules.go. */
export function matchesRule(rule: Rule, { operation, namespace, subresource }: Attributes, resource: GroupVersionResource): boolean {
  return (
    isInScope(rule.scope, namespace, resource) &&
    has(rule.operations, operation) &&
    has(rule.apiGroups, resource.group) &&
    has(rule.apiVersions, resource.version) &&
    (rule.resources ?? []).some((text) => isResource(text, resource.resource, subresource))
  );
}

function has(items: readonly string[] | undefined, wanted: string): boolean {
  return items !== undefined && (items.includes('*') || items.includes(wanted));
}

/** `pods`, `pods/status`, `pods/*`, `*`, `*\/status`, `*\/*` */
function isResource(text: string, resource: string, subresource: string): boolean {
  const slash = text.indexOf('/');
  const name = slash < 0 ? text : text.slice(0, slash);
  const sub = slash < 0 ? '' : text.slice(slash + 1);
  return (name === '*' || name === resource) && (sub === '*' || sub === subresource);
}

/** Namespaces themselves are cluster-scoped, though a request for one has a namespace. */
function isInScope(scope: string | undefined, namespace: string, { group, version, resource }: GroupVersionResource): boolean {
  if (scope === undefined || scope === '*') return true;
  const isCluster = namespace === '' || (group === '' && version === 'v1' && resource === 'namespaces');
  return scope === 'Cluster' ? isCluster : scope === 'Namespaced' && !isCluster;
}
