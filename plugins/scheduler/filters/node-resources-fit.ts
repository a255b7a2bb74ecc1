import type { Filter } from '../framework/framework.ts';
import type { PodInfo } from '../framework/pod-info.ts';
import { isExtendedResourceName } from '../../common/resource-names.ts';

/** Order of upstream's checks; other resources follow. */
const first = ['cpu', 'memory', 'ephemeral-storage'];

interface Requests {
  readonly amounts: readonly (readonly [string, number])[];
  /** Resources that a device class backs: nodes that do not have them as such may have devices. */
  readonly ofDevices: ReadonlySet<string>;
}

/** Extended resources that the filter does not check. */
export interface IgnoredResources {
  readonly names: readonly string[];
  /** Parts of the names before the slash. */
  readonly groups: readonly string[];
}

/** Returns the filter that rejects nodes without enough free resources, extended ones included. Upstream: plugins/noderesources/fit.go. */
export const nodeResourcesFit = ({ names, groups }: IgnoredResources = { names: [], groups: [] }): Filter<Requests> => ({
  name: 'NodeResourcesFit',
  events: ['NodeAdded', 'NodeAllocatableChanged', 'PodDeleted', 'PodChanged', 'DevicesChanged'],
  prepare(pod, cluster) {
    const isIgnored = (name: string): boolean =>
      isExtendedResourceName(name) && (names.includes(name) || groups.includes(name.split('/', 1)[0] as string));
    const amounts = ordered(pod).filter(([name]) => !isIgnored(name));
    const ofDevices = amounts.filter(([name]) => cluster.classOfResource(name)).map(([name]) => name);
    return { state: { amounts, ofDevices: new Set(ofDevices) } };
  },
  check({ amounts, ofDevices }, _, node) {
    const reasons: string[] = [];
    let isUnresolvable = false;
    if (node.pods.size + 1 > (node.allocatable.get('pods') ?? 0)) reasons.push('Too many pods');
    for (const [name, amount] of amounts) {
      const allocatable = node.allocatable.get(name) ?? 0;
      if (allocatable === 0 && ofDevices.has(name)) continue;
      if (amount <= allocatable - (node.requested.get(name) ?? 0)) continue;
      reasons.push(`Insufficient ${name}`);
      isUnresolvable ||= amount > allocatable;
    }
    return reasons.length === 0 ? undefined : { reasons, isUnresolvable };
  },
});

function ordered({ requests }: PodInfo): [string, number][] {
  const rank = (name: string): number => (first.includes(name) ? first.indexOf(name) : first.length);
  return [...requests].filter(([name, amount]) => amount > 0 && name !== 'pods').sort(([a], [b]) => rank(a) - rank(b));
}
