import { withoutTrailing } from '#apimachinery/runtime/trailing';
import type { AuthorizationAttributes } from '#apiserver/authorization/authorizer';
import type { AuditLevel, AuditStage } from './event.ts';

export interface AuditPolicyRule {
  readonly level: AuditLevel;
  readonly users: readonly string[];
  readonly userGroups: readonly string[];
  readonly verbs: readonly string[];
  readonly resources: readonly {
    readonly group: string;
    readonly resources: readonly string[];
    readonly resourceNames: readonly string[];
  }[];
  readonly namespaces: readonly string[];
  readonly nonResourceURLs: readonly string[];
  readonly omitStages: readonly AuditStage[];
  readonly omitManagedFields: boolean | undefined;
}

/** A validated audit.k8s.io/v1 Policy. */
export interface AuditPolicy {
  readonly rules: readonly AuditPolicyRule[];
  readonly omitStages: readonly AuditStage[];
  readonly omitManagedFields: boolean;
}

/** The audit level and omitted stages of a request. */
export interface AuditDecision {
  readonly level: AuditLevel;
  readonly omitStages: ReadonlySet<AuditStage>;
  readonly omitManagedFields: boolean;
}

/**
 * Compiled rules of a policy. The first matching rule decides; requests without a match are not audited. Upstream:
 * apiserver/pkg/audit/policy/checker.go.
 */
export class PolicyEvaluator {
  #rules: readonly { readonly rule: AuditPolicyRule; readonly decision: AuditDecision }[] = [];
  #none: AuditDecision = { level: 'None', omitStages: new Set(), omitManagedFields: false };

  constructor(policy: AuditPolicy) {
    this.replace(policy);
  }

  /** Replaces the policy for future requests. */
  replace({ rules, omitStages, omitManagedFields }: AuditPolicy): void {
    this.#none = { level: 'None', omitStages: new Set(omitStages), omitManagedFields };
    this.#rules = rules.map((rule) => ({
      rule,
      decision: {
        level: rule.level,
        omitStages: new Set([...omitStages, ...rule.omitStages]),
        omitManagedFields: rule.omitManagedFields ?? omitManagedFields,
      },
    }));
  }

  evaluate(request: AuditedRequest): AuditDecision {
    for (const { rule, decision } of this.#rules) if (fits(rule, request)) return decision;
    return this.#none;
  }
}

/** The request attributes that rules match. `user` is undefined if authentication failed. */
export type AuditedRequest = Omit<AuthorizationAttributes, 'user' | 'fieldSelector' | 'labelSelector'> & {
  readonly user: AuthorizationAttributes['user'] | undefined;
};

function fits(rule: AuditPolicyRule, request: AuditedRequest): boolean {
  const { user, verb } = request;
  if (rule.users.length > 0 && !(user && rule.users.includes(user.name))) return false;
  if (rule.userGroups.length > 0 && !user?.groups.some((group) => rule.userGroups.includes(group))) return false;
  if (rule.verbs.length > 0 && !rule.verbs.includes(verb)) return false;
  if (rule.namespaces.length > 0 || rule.resources.length > 0) return fitsResource(rule, request);
  if (rule.nonResourceURLs.length > 0) return !request.isResourceRequest && rule.nonResourceURLs.some((url) => fitsPath(url, request.path));
  return true;
}

function fitsPath(pattern: string, path: string): boolean {
  return pattern === '*' || pattern === path || (pattern.endsWith('*') && path.startsWith(withoutTrailing(pattern, '*')));
}

function fitsResource(
  rule: AuditPolicyRule,
  { isResourceRequest, namespace, apiGroup, resource, subresource, name }: AuditedRequest,
): boolean {
  if (!isResourceRequest) return false;
  if (rule.namespaces.length > 0 && !rule.namespaces.includes(namespace)) return false;
  if (rule.resources.length === 0) return true;
  const combined = subresource === '' ? resource : `${resource}/${subresource}`;
  return rule.resources.some((one) => {
    if (one.group !== apiGroup && one.group !== '*') return false;
    if (one.resources.length === 0) return true;
    if (one.resourceNames.length > 0 && !one.resourceNames.includes(name)) return false;
    return one.resources.some(
      (pattern) =>
        pattern === combined ||
        pattern === '*' ||
        (subresource !== '' && pattern === `*/${subresource}`) ||
        (pattern.endsWith('/*') && pattern.slice(0, -2) === resource),
    );
  });
}
