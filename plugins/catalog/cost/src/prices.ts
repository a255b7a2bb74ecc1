import { type KubeObject, Quantity } from 'kubenest/sdk';
import type { PersistentVolumeClaim } from 'kubenest/types/core_v1';
import { isPodLevelResource, podResources } from '../../../common/pod-resources.ts';
import type { Pod } from '../../../common/pod-walker.ts';

const gibibyte = 2 ** 30;

/** Price of a unit by resource: of a core, a GiB of memory or storage, or one piece of another resource. */
export type Prices = ReadonlyMap<string, number>;

/** Returns the price of what a pod requests or a claim stores; 0 for pods that have ended. */
export function costOf(object: KubeObject, prices: Prices): number {
  return object.kind === 'PersistentVolumeClaim' ? costOfClaim(object, prices) : costOfPod(object as Pod, prices);
}

function costOfPod(pod: Pod, prices: Prices): number {
  if (pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed') return 0;
  let cost = 0;
  for (const [name, quantity] of podResources(pod, 'requests', { isPodLevelResource, overhead: true })) {
    const units = name === 'memory' || name === 'ephemeral-storage' ? quantity.toNumber() / gibibyte : quantity.toNumber();
    cost += units * (prices.get(name) ?? 0);
  }
  return cost;
}

/** The price of a storage class is that of `storage/CLASS`, by default that of `storage`. */
function costOfClaim({ spec }: PersistentVolumeClaim, prices: Prices): number {
  const size = Quantity.parse(spec?.resources?.requests?.['storage'] ?? '0').toNumber() / gibibyte;
  return size * (prices.get(`storage/${spec?.storageClassName ?? ''}`) ?? prices.get('storage') ?? 0);
}
