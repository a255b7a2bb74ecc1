import type { DeviceClass, ResourceSliceSpec } from 'kubenest/types/resource_v1';
import type { ClusterView } from '../framework/framework.ts';
import type { NodeInfo } from '../framework/node-info.ts';
import { AllocationTimeout } from './allocation-error.ts';
import { SelectorResults } from './device-selectors.ts';
import { isForNode } from './pools.ts';

/** Number of devices of a node, and how many of them claims have got. */
export interface DeviceTotal {
  readonly capacity: number;
  readonly allocated: number;
}

/**
 * Counts the devices that back the extended resources of nodes, for the scores of one pod. Upstream:
 * pkg/scheduler/framework/plugins/noderesources/resource_allocation.go (calculateDRAResourceTotals).
 */
export class DeviceTotals {
  readonly #selectors = new SelectorResults();

  constructor(private readonly cluster: ClusterView) {}

  /** Returns undefined if no DeviceClass backs the resource, the node has no device of it, or a selector of the class fails. */
  of(resource: string, node: NodeInfo): DeviceTotal | undefined {
    const deviceClass = this.cluster.classOfResource(resource);
    if (!deviceClass) return undefined;
    try {
      return this.#count(deviceClass, node);
    } catch (error) {
      if (error instanceof AllocationTimeout) return undefined;
      throw error;
    }
  }

  #count({ spec: { selectors = [] } = {} }: DeviceClass, { node }: NodeInfo): DeviceTotal | undefined {
    const { ledger } = this.cluster.resourceClaims;
    let [capacity, allocated] = [0, 0];
    for (const { spec = {} } of this.cluster.resourceSlices()) {
      const { driver = '', pool, devices = [], perDeviceNodeSelection } = spec as ResourceSliceSpec;
      if (!perDeviceNodeSelection && !isForNode(node, spec)) continue;
      for (const device of devices) {
        if (perDeviceNodeSelection && !isForNode(node, device)) continue;
        const matches = this.#selectors.match(selectors, driver, device);
        if (typeof matches === 'string') return undefined;
        if (!matches) continue;
        const id = `${driver}/${pool?.name}/${device.name}`;
        capacity += 1;
        if (ledger.isTaken(id) || ledger.shared(id)) allocated += 1;
      }
    }
    return capacity === 0 ? undefined : { capacity, allocated };
  }
}
