import { Quantity } from '#apimachinery/api/quantity';
import type { Pod } from '#kubernetes/schema/core_v1.gen';

export type PodQosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

const resources = ['cpu', 'memory'] as const;
type Totals = Partial<Record<(typeof resources)[number], Quantity>>;

/** Adds the positive amounts of cpu and memory; returns true if both are present. */
function addTo(totals: Totals, list: Readonly<Record<string, string>> | undefined): boolean {
  if (!list) return false;
  let found = 0;
  for (const resource of resources) {
    const text = list[resource];
    if (text === undefined) continue;
    const quantity = Quantity.parse(text);
    if (quantity.sign <= 0) continue;
    found++;
    totals[resource] = totals[resource]?.add(quantity) ?? quantity;
  }
  return found === resources.length;
}

/**
 * Returns the quality of service class of a pod:
 *
 * | requests and limits of cpu and memory                                       | class      |
 * | --------------------------------------------------------------------------- | ---------- |
 * | none                                                                        | BestEffort |
 * | every container limits both, and the sums of requests equal those of limits | Guaranteed |
 * | otherwise                                                                   | Burstable  |
 *
 * Pod-level resources, if set, replace those of the containers. Upstream: core/helper/qos.
 */
export function podQosClass({ spec }: Pod): PodQosClass {
  const requests: Totals = {};
  const limits: Totals = {};
  let guaranteed = true;
  if (spec?.resources) {
    addTo(requests, spec.resources.requests);
    if (Object.keys(spec.resources.limits ?? {}).length > 0 && !addTo(limits, spec.resources.limits)) guaranteed = false;
  } else {
    for (const containers of [spec?.containers ?? [], spec?.initContainers ?? []]) {
      for (const container of containers) {
        addTo(requests, container.resources?.requests);
        if (!addTo(limits, container.resources?.limits)) guaranteed = false;
      }
    }
  }
  const asked = resources.filter((resource) => requests[resource]);
  const limited = resources.filter((resource) => limits[resource]);
  if (asked.length === 0 && limited.length === 0) return 'BestEffort';
  if (!guaranteed || asked.length !== limited.length) return 'Burstable';
  return asked.every((resource) => limits[resource]?.equals(requests[resource]!)) ? 'Guaranteed' : 'Burstable';
}
