import type { AdmissionMatch } from '#apiserver/admission/attributes';
import type { Scheme } from '#apiserver/registry/scheme';
import type { MatchTarget } from '#cmd/apis/match-problems';

/** A rule of a webhook. Upstream: api/admissionregistration/v1/types.go (RuleWithOperations). */
export interface WebhookRule {
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly operations: readonly string[];
  readonly resources: readonly string[];
  readonly scope: 'Namespaced' | 'Cluster' | '*';
}

/**
 * Returns the narrowest rules that select all requests of a `match`. Known resources are named in the groups that have them, in their
 * storage version: with `matchPolicy: Equivalent` the cluster's server converts the objects of other versions to it, and plugins see the
 * form that they see inside of the server. Operations that no selected resource has are left out. Other groups are those of custom
 * resources, in all versions.
 */
export function rulesOf(matches: readonly AdmissionMatch[], scheme: Scheme, targets: readonly MatchTarget[]): WebhookRule[] {
  return merged(matches.flatMap((match) => rulesOfMatch(match, scheme, targets)));
}

function rulesOfMatch(match: AdmissionMatch, scheme: Scheme, targets: readonly MatchTarget[]): WebhookRule[] {
  const { groups = ['*'], resources, subresources = [''], operations } = match;
  if (resources.includes('*'))
    return [{ ...scopeless, apiGroups: sorted(groups), apiVersions: ['*'], operations, resources: names(match) }];
  const selected = targets.filter(
    (target) => has(groups, target.group) && resources.includes(target.resource) && has(subresources, target.subresource),
  );
  const rules = selected.flatMap(({ group, resource, subresource, operations: possible }) => {
    const wanted = operations.filter((operation) => possible.has(operation));
    if (wanted.length === 0) return [];
    const definition = scheme.resource({ group, resource });
    const version = definition?.storageVersion?.version ?? definition;
    return {
      apiGroups: [version?.group ?? group],
      apiVersions: [version?.version ?? '*'],
      operations: wanted,
      resources: [subresource === '' ? resource : `${resource}/${subresource}`],
      scope: definition ? (definition.namespaced ? ('Namespaced' as const) : ('Cluster' as const)) : ('*' as const),
    };
  });
  const custom = groups.filter((group) => group !== '*' && !targets.some((target) => target.group === group));
  if (custom.length === 0) return rules;
  return [...rules, { ...scopeless, apiGroups: sorted(custom), apiVersions: ['*'], operations, resources: names(match) }];
}

const scopeless = { scope: '*' } as const;

/** Returns the names of the resources and subresources of a match, as rules write them: `pods/*` includes `pods`. */
function names({ resources, subresources = [''] }: AdmissionMatch): string[] {
  return resources.flatMap((resource) =>
    subresources.flatMap((subresource) => (subresource === '' ? [resource] : [`${resource}/${subresource}`])),
  );
}

/** Merges rules that differ only in their resources, then those that differ only in their operations. */
function merged(rules: readonly WebhookRule[]): WebhookRule[] {
  const byOperations = joined(rules, 'operations', ({ operations: _, ...rest }) => rest);
  return joined(byOperations, 'resources', ({ resources: _, ...rest }) => rest);
}

function joined(rules: readonly WebhookRule[], member: 'operations' | 'resources', rest: (rule: WebhookRule) => object): WebhookRule[] {
  const found = new Map<string, WebhookRule>();
  for (const rule of rules) {
    const key = JSON.stringify(rest({ ...rule, operations: sorted(rule.operations), resources: sorted(rule.resources) }));
    const same = found.get(key);
    const values = [...(same?.[member] ?? []), ...rule[member]];
    found.set(key, { ...rule, [member]: member === 'resources' ? withoutCovered(values) : sorted(values) });
  }
  return [...found.values()];
}

/** Returns the values in order; a wildcard must not have others beside it. */
function sorted(values: readonly string[]): string[] {
  return values.includes('*') ? ['*'] : [...new Set(values)].sort();
}

/**
 * Returns the resources in order, without those that a wildcard covers, which the API refuses. Upstream:
 * kubernetes/pkg/apis/admissionregistration/validation/validation.go (validateResources).
 */
function withoutCovered(resources: readonly string[]): string[] {
  const all = new Set(resources);
  const isCovered = (name: string): boolean => {
    const [resource = '', subresource] = name.split('/', 2);
    const wider = subresource === undefined ? ['*', `${resource}/*`, '*/*'] : [`${resource}/*`, `*/${subresource}`, '*/*'];
    return wider.some((wide) => wide !== name && all.has(wide));
  };
  return [...all].filter((name) => !isCovered(name)).sort();
}

function has(wanted: readonly string[], value: string): boolean {
  return wanted.includes('*') || wanted.includes(value);
}
