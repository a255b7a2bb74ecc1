import type { GroupVersionKind, ServedResource } from 'kubenest/sdk';
import type { NamedRuleWithOperations, ValidatingAdmissionPolicySpec } from 'kubenest/types/admissionregistration_v1';

/** Number of kinds of one rule after which no more are checked. Upstream: maxTypesToCheck. */
const maxKinds = 10;

/**
 * Returns the kinds that the rules of a policy name, in order of group, version and kind. Rules with wildcards for groups or versions,
 * and resources with wildcards or subresources, name none. Upstream: typesToCheck.
 */
export function matchedKinds({ matchConstraints }: ValidatingAdmissionPolicySpec, served: readonly ServedResource[]): GroupVersionKind[] {
  const kinds = new Map<string, GroupVersionKind>();
  for (const rule of matchConstraints?.resourceRules ?? []) {
    let count = 0;
    for (const kind of kindsOfRule(rule, served)) {
      kinds.set(textOf(kind), kind);
      count += 1;
      if (count === maxKinds) return sorted(kinds.values());
    }
  }
  return sorted(kinds.values());
}

function* kindsOfRule(rule: NamedRuleWithOperations, served: readonly ServedResource[]): Iterable<GroupVersionKind> {
  const { apiGroups = [], apiVersions = [] } = rule;
  if ([...apiGroups, ...apiVersions].some((text) => text.includes('*'))) return;
  const resources = (rule.resources ?? []).filter((text) => !/[*/]/.test(text)).sort();
  for (const group of [...apiGroups].sort()) {
    for (const version of [...apiVersions].sort()) for (const resource of resources) yield* kindsOf(group, version, resource, served);
  }
}

/** As in upstream's RESTMapper, the empty group stands for any. */
function* kindsOf(group: string, version: string, resource: string, served: readonly ServedResource[]): Iterable<GroupVersionKind> {
  for (const one of served) {
    const isGroup = group === '' || one.group === group;
    if (isGroup && one.version === version && one.resource === resource) yield { group: one.group, version, kind: one.kind };
  }
}

function sorted(kinds: Iterable<GroupVersionKind>): GroupVersionKind[] {
  const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
  return [...kinds].sort((a, b) => compare(a.group, b.group) || compare(a.version, b.version) || compare(a.kind, b.kind));
}

function textOf({ group, version, kind }: GroupVersionKind): string {
  return `${group}/${version}/${kind}`;
}
