import type { AllocationResult, ResourceClaim } from 'kubenest/types/resource_v1';
import { type PodResourceClaims, dynamicResources } from '../filters/dynamic-resources.ts';
import { defaultNormalize, type Score } from '../framework/framework.ts';

/** Most alternatives of a request. Upstream: FirstAvailableDeviceRequestMaxSize. */
const maxAlternatives = 8;

/** Prefers nodes on which the claims get the alternatives that they name first. Upstream: plugins/dynamicresources (Score). */
export const dynamicResourcesScore: Score<PodResourceClaims> = {
  name: dynamicResources.name,
  weight: 2,

  prepare: (_pod, _cluster, _nodes, stateOf) => stateOf(dynamicResources.name) as PodResourceClaims | undefined,

  score({ claims, unallocated, allocations }, _, { name }) {
    const results = allocations.get(name) ?? [];
    return claims.reduce((sum, claim) => {
      const allocation = claim.status?.allocation ?? results[unallocated.indexOf(claim)];
      return sum + (allocation ? scoreOf(claim, allocation) : 0);
    }, 0);
  },

  normalize: (_, scores) => defaultNormalize(scores, false),
};

function scoreOf({ spec }: ResourceClaim, { devices }: AllocationResult): number {
  const allocated = new Set((devices?.results ?? []).map(({ request }) => request));
  let score = 0;
  for (const { name, exactly, firstAvailable = [] } of spec?.devices?.requests ?? [])
    if (!exactly)
      for (const [i, alternative] of firstAvailable.entries())
        if (allocated.has(`${name}/${alternative.name}`)) score += maxAlternatives - i;
  return score;
}
