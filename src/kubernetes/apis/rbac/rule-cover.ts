import { quoteList } from '#apimachinery/runtime/quote';
import { withoutTrailing } from '#apimachinery/runtime/trailing';

/** A rule of a role. */
export interface Rule {
  readonly verbs?: readonly string[] | undefined;
  readonly apiGroups?: readonly string[] | undefined;
  readonly resources?: readonly string[] | undefined;
  readonly resourceNames?: readonly string[] | undefined;
  readonly nonResourceURLs?: readonly string[] | undefined;
}

const none: readonly string[] = [];

/**
 * Returns the parts of `wanted` that no single rule of `owned` covers, as rules of one verb and one resource, name or URL each. A rule of
 * that granularity is covered by one other rule or by none. Upstream: component-helpers/auth/rbac/validation/policy_comparator.go.
 */
export function uncoveredRules(owned: readonly Rule[], wanted: readonly Rule[]): Rule[] {
  const uncovered: Rule[] = [];
  let left = maxParts;
  for (const rule of wanted) {
    if (owned.some((owner) => coversWhole(owner, rule))) continue;
    // A rule of a few kilobytes may have a billion parts.
    left -= partsOf(rule);
    if (left < 0) return [...uncovered, rule];
    uncovered.push(...breakDown(rule).filter((part) => !owned.some((owner) => covers(owner, part))));
  }
  return uncovered;
}

/** Maximum number of parts. Rules beyond it count as uncovered, unless a whole rule covers them. */
const maxParts = 50_000;

function partsOf({ verbs = none, apiGroups = none, resources = none, resourceNames = none, nonResourceURLs = none }: Rule): number {
  return verbs.length * (apiGroups.length * resources.length * Math.max(1, resourceNames.length) + nonResourceURLs.length);
}

/** True if one rule covers another without dividing it. */
const coversWhole = (owner: Rule, rule: Rule): boolean => !owner.resourceNames?.length && covers(owner, rule);

function breakDown({ verbs = none, apiGroups = none, resources = none, resourceNames = none, nonResourceURLs = none }: Rule): Rule[] {
  const rules: Rule[] = [];
  for (const group of apiGroups) {
    for (const resource of resources) {
      for (const verb of verbs) {
        const rule = { verbs: [verb], apiGroups: [group], resources: [resource] };
        if (resourceNames.length === 0) rules.push(rule);
        else for (const name of resourceNames) rules.push({ ...rule, resourceNames: [name] });
      }
    }
  }
  return [...rules, ...nonResourceURLs.flatMap((url) => verbs.map((verb) => ({ verbs: [verb], nonResourceURLs: [url] })))];
}

function covers(owner: Rule, rule: Rule): boolean {
  const [name] = rule.resourceNames ?? none;
  const names = owner.resourceNames ?? none;
  return (
    holds(owner.verbs, rule.verbs) &&
    holds(owner.apiGroups, rule.apiGroups) &&
    (rule.resources ?? none).every((resource) => coversResource(owner.resources ?? none, resource)) &&
    (names.length === 0 || (name !== undefined && names.includes(name))) &&
    (rule.nonResourceURLs ?? none).every((url) => (owner.nonResourceURLs ?? none).some((owned) => coversUrl(owned, url)))
  );
}

function holds(owned: readonly string[] = none, wanted: readonly string[] = none): boolean {
  return owned.includes('*') || wanted.every((one) => owned.includes(one));
}

function coversResource(owned: readonly string[], resource: string): boolean {
  if (owned.includes('*') || owned.includes(resource)) return true;
  const slash = resource.indexOf('/');
  return slash >= 0 && owned.includes(`*/${resource.slice(slash + 1)}`);
}

function coversUrl(owned: string, url: string): boolean {
  return owned === url || (owned.endsWith('*') && url.startsWith(withoutTrailing(owned, '*')));
}

/** Formats rules for messages: merged by resource, sorted. Upstream: kubernetes/pkg/registry/rbac/validation/policy_compact.go. */
export function describeRules(rules: readonly Rule[]): string[] {
  const simple = new Map<string, Rule>();
  const others: Rule[] = [];
  for (const rule of rules) {
    if (rule.nonResourceURLs) {
      others.push(rule);
      continue;
    }
    const key = JSON.stringify([rule.apiGroups, rule.resources, rule.resourceNames]);
    const present = simple.get(key);
    simple.set(key, present ? { ...present, verbs: [...(present.verbs ?? none), ...(rule.verbs ?? none)] } : rule);
  }
  return [...new Set([...others, ...simple.values()].map(describeRule))].sort();
}

function describeRule({ apiGroups, resources, nonResourceURLs, resourceNames, verbs }: Rule): string {
  const parts = {
    APIGroups: apiGroups,
    Resources: resources,
    NonResourceURLs: nonResourceURLs,
    ResourceNames: resourceNames,
    Verbs: verbs,
  };
  const texts = Object.entries(parts).flatMap(([name, list]) => (list?.length ? `${name}:${quoteList(list)}` : []));
  return `{${texts.join(', ')}}`;
}
