import type { GroupResource, KubeObject } from 'kubenest/sdk';
import type { Steps } from '#sdk/internal';
import { type ResourceQuotaObject, scopesOf } from '../../common/quota/evaluator.ts';
import { mask, type QuotaAmounts, sum, zero } from '../../common/quota/quota-amounts.ts';
import type { QuotaEvaluators } from '../../common/quota/quota-evaluators.ts';

/**
 * Returns the usage of the names that a quota limits. `objectsOf`: returns the objects of a resource in the quota's namespace; undefined if
 * they are not known, and their usage is then left out. A quota may have 20,000 names. Upstream: pkg/quota/v1/resources.go CalculateUsage.
 */
export function* usageOf(
  quota: ResourceQuotaObject,
  evaluators: QuotaEvaluators,
  objectsOf: (resource: GroupResource) => readonly KubeObject[] | undefined,
): Steps<QuotaAmounts> {
  const hard = Object.keys(quota.spec?.hard ?? {});
  const scopes = scopesOf(quota);
  const total = new Map<string, typeof zero>();
  for (const resource of evaluators.resourcesOf(hard)) {
    yield;
    const objects = objectsOf(resource);
    if (!objects) continue;
    const evaluator = evaluators.of(resource);
    const names = new Set(evaluator.matchingResources(hard));
    let used: QuotaAmounts = new Map([...names].map((name) => [name, zero]));
    for (const object of objects) {
      if (scopes.every((scope) => evaluator.matchesScope(scope, object))) used = sum(used, mask(evaluator.usage(object), names));
      yield;
    }
    for (const [name, quantity] of used) total.set(name, quantity);
  }
  return total;
}
