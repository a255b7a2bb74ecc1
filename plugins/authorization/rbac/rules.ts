import type { AuthorizationAttributes } from 'kubenest/sdk';

/** A PolicyRule of rbac.authorization.k8s.io/v1. */
export interface PolicyRule {
  readonly verbs?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

const none: readonly string[] = [];

/**
 * True if a rule allows the request. `*` matches all verbs, groups or resources; `*`, a slash and `scale` match that
 * subresource of all resources; empty resourceNames match all names; a URL with a trailing `*` matches the prefix. Upstream:
 * kubernetes/pkg/apis/rbac/v1/evaluation_helpers.go.
 */
export function ruleAllows(rule: PolicyRule, request: AuthorizationAttributes): boolean {
  if (!includes(rule.verbs, request.verb)) return false;
  if (!request.isResourceRequest) return (rule.nonResourceURLs ?? none).some((url) => matchesUrl(url, request.path));
  return (
    includes(rule.apiGroups, request.apiGroup) &&
    matchesResource(rule.resources ?? none, request) &&
    matchesName(rule.resourceNames ?? none, request.name)
  );
}

function includes(list: readonly string[] | undefined, value: string): boolean {
  return list !== undefined && (list.includes('*') || list.includes(value));
}

function matchesResource(resources: readonly string[], { resource, subresource }: AuthorizationAttributes): boolean {
  const combined = subresource ? `${resource}/${subresource}` : resource;
  return resources.some((one) => one === '*' || one === combined || (subresource !== '' && one === `*/${subresource}`));
}

function matchesName(names: readonly string[], name: string): boolean {
  return names.length === 0 || names.includes(name);
}

function matchesUrl(pattern: string, path: string): boolean {
  return pattern === '*' || pattern === path || (pattern.endsWith('*') && path.startsWith(pattern.slice(0, -1)));
}
