import type { Attributes, Quantity } from 'kubenest/sdk';
import { type Amounts, isBestEffort, isPodLevelResource, podResources } from '../pod-resources.ts';
import type { Container, Pod } from '../pod-walker.ts';
import { isExtendedResourceName, isNativeResource } from '../resource-names.ts';
import { matchesNames, objectCountName, type QuotaEvaluator, type ScopeRequirement } from './evaluator.ts';
import { one, type QuotaAmounts } from './quota-amounts.ts';

const countName = objectCountName('', 'pods');
const resources = new Set([
  countName,
  'pods',
  ...['cpu', 'memory', 'ephemeral-storage'].flatMap((name) => [name, `requests.${name}`, `limits.${name}`]),
]);
const mustBeSpecified = new Set(['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory']);
const deviceClassPrefix = 'deviceclass.resource.kubernetes.io/';
const podUsageOptions = { isPodLevelResource, useStatus: true, overhead: true };

/** True for extended resources in a quota: `requests.example.com/gpu`. */
export function isExtendedResourceNameForQuota(name: string): boolean {
  return name.startsWith('requests.') && (!isNativeResource(name) || name.startsWith(`requests.${deviceClassPrefix}`));
}

/** Computes the usage of pods: their number, requests and limits. Upstream: kubernetes/pkg/quota/v1/evaluator/core/pods.go. */
export class PodEvaluator implements QuotaEvaluator {
  readonly hasScopes = true;

  handles({ operation, subresource, object, oldObject }: Attributes): boolean {
    if (subresource === 'resize') return operation === 'UPDATE';
    if (subresource !== '') return false;
    return operation === 'CREATE' || (operation === 'UPDATE' && isTerminating(object as Pod) !== isTerminating(oldObject as Pod));
  }

  matchingResources(names: Iterable<string>): string[] {
    return [...names].filter(
      (name) =>
        resources.has(name) ||
        name.startsWith('hugepages-') ||
        name.startsWith('requests.hugepages-') ||
        isExtendedResourceNameForQuota(name),
    );
  }

  matchesScope(scope: ScopeRequirement, object: Pod): boolean {
    switch (scope.scopeName) {
      case 'Terminating':
        return isTerminating(object);
      case 'NotTerminating':
        return !isTerminating(object);
      case 'BestEffort':
        return isBestEffort(object);
      case 'NotBestEffort':
        return !isBestEffort(object);
      case 'PriorityClass': {
        const { priorityClassName } = object.spec;
        return matchesNames(scope, priorityClassName ? [priorityClassName] : []);
      }
      case 'CrossNamespacePodAffinity':
        return usesCrossNamespaceAffinity(object);
      default:
        return false;
    }
  }

  /** Requires every container to specify the resources that a quota limits, unless the pod specifies them as a whole. */
  checkConstraints(required: readonly string[], { spec }: Pod): void {
    const hasPodLevel = [spec.resources?.requests, spec.resources?.limits].some((list) => Object.keys(list ?? {}).some(isPodLevelResource));
    if (hasPodLevel) return;
    const problems = required
      .filter((name) => mustBeSpecified.has(name))
      .sort()
      .flatMap((name) => {
        const silent = [...(spec.containers ?? []), ...(spec.initContainers ?? [])].filter((container) => !specifies(container, name));
        return silent.length === 0 ? [] : [`${name} for: ${[...new Set(silent.map((container) => container.name))].sort().join(',')}`];
      });
    if (problems.length > 0) throw new Error(`must specify ${problems.join('; ')}`);
  }

  usage(object: Pod): QuotaAmounts {
    const usage: Amounts = new Map([[countName, one]]);
    if (!isCharged(object)) return usage;
    usage.set('pods', one);
    for (const [name, quantity] of podResources(object, 'requests', podUsageOptions)) addRequest(usage, name, quantity);
    for (const [name, quantity] of podResources(object, 'limits', podUsageOptions))
      if (isCounted(name)) usage.set(`limits.${name}`, quantity);
    return usage;
  }
}

const isCounted = (name: string): boolean => name === 'cpu' || name === 'memory' || name === 'ephemeral-storage';

function addRequest(usage: Amounts, name: string, quantity: Quantity): void {
  if (isCounted(name) || name.startsWith('hugepages-')) usage.set(name, quantity);
  else if (!name.startsWith(deviceClassPrefix) && !isExtendedResourceName(name)) return;
  usage.set(`requests.${name}`, quantity);
}

function specifies({ resources }: Container, name: string): boolean {
  const [which, resource] = name.includes('.') ? (name.split('.', 2) as ['requests' | 'limits', string]) : (['requests', name] as const);
  return Object.hasOwn(resources?.[which] ?? {}, resource);
}

/** True for pods that use resources; pods that are done or overdue for deletion count only as objects. */
function isCharged({ status, metadata }: Pod): boolean {
  if (status?.phase === 'Failed' || status?.phase === 'Succeeded') return false;
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata;
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) return true;
  return Date.now() <= Date.parse(deletionTimestamp) + deletionGracePeriodSeconds * 1_000;
}

function isTerminating({ spec }: Pod): boolean {
  return (spec.activeDeadlineSeconds ?? -1) >= 0;
}

function usesCrossNamespaceAffinity({ spec }: Pod): boolean {
  return [spec.affinity?.podAffinity, spec.affinity?.podAntiAffinity].some((terms) =>
    [
      ...(terms?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
      ...(terms?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(({ podAffinityTerm }) => podAffinityTerm),
    ].some((term) => (term?.namespaces?.length ?? 0) > 0 || term?.namespaceSelector !== undefined),
  );
}
