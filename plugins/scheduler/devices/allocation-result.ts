import type { NodeSelectorRequirement } from 'kubenest/types/core_v1';
import type {
  AllocationResult,
  DeviceAllocationConfiguration,
  DeviceRequestAllocationResult,
  ResourceClaim,
} from 'kubenest/types/resource_v1';
import type { Capacities } from './consumable-capacity.ts';
import type { PoolDevice } from './pools.ts';
import type { DeviceWish } from './requests.ts';

/** A device that a claim gets for a request. */
export interface ChosenDevice {
  readonly wish: DeviceWish;
  readonly device: PoolDevice;
  /** Set for a share of a device that allows several allocations. */
  readonly share?: { readonly id: string; readonly capacity: Capacities };
}

/**
 * Returns the allocation of a claim. `wishes` has the chosen alternative of each request. Upstream:
 * dynamic-resource-allocation/structured/internal/incubating/allocator_incubating.go (Allocate).
 */
export function allocationResult(
  claim: ResourceClaim,
  chosen: readonly ChosenDevice[],
  wishes: readonly DeviceWish[],
  node: string,
): AllocationResult {
  const config = configOf(claim, wishes);
  const terms = nodeTerms(chosen, node);
  return {
    devices: { results: chosen.map(resultOf), ...(config.length > 0 && { config }) },
    ...(terms && { nodeSelector: { nodeSelectorTerms: [terms] } }),
  };
}

function resultOf({ wish, device: { device, slice }, share }: ChosenDevice): DeviceRequestAllocationResult {
  const { bindingConditions = [], bindingFailureConditions = [] } = device;
  const consumed = share && [...share.capacity].map(([name, amount]) => [name, amount.toString()] as const);
  return {
    request: wish.name,
    driver: slice.driver ?? '',
    pool: slice.pool?.name ?? '',
    device: device.name ?? '',
    ...(wish.isAdmin && { adminAccess: true }),
    ...(wish.tolerations.length > 0 && { tolerations: [...wish.tolerations] }),
    ...(bindingConditions.length > 0 && { bindingConditions }),
    ...(bindingFailureConditions.length > 0 && { bindingFailureConditions }),
    ...(share && { shareID: share.id }),
    ...(consumed && consumed.length > 0 && { consumedCapacity: Object.fromEntries(consumed) }),
  };
}

/** Configurations of the classes, each once with the requests that use it, and then those of the claim that apply. */
function configOf({ spec }: ResourceClaim, wishes: readonly DeviceWish[]): DeviceAllocationConfiguration[] {
  const byClass = Map.groupBy(wishes, ({ deviceClass }) => deviceClass);
  const ofClasses = [...byClass].flatMap(([deviceClass, users]) =>
    (deviceClass.spec?.config ?? []).map((config) => ({ source: 'FromClass', requests: users.map(({ name }) => name), ...config })),
  );
  const ofClaim = (spec?.devices?.config ?? []).flatMap((config) => {
    const { requests = [] } = config;
    const uses = wishes.filter(({ name }) => requests.includes(name) || requests.includes(name.split('/')[0] as string)).length;
    return Array.from({ length: requests.length === 0 ? 1 : uses }, () => ({ source: 'FromClaim', ...config }));
  });
  return [...ofClasses, ...ofClaim];
}

/** Nodes on which the devices are available together; undefined if those are all. */
function nodeTerms(
  chosen: readonly ChosenDevice[],
  node: string,
): { matchFields?: NodeSelectorRequirement[]; matchExpressions?: NodeSelectorRequirement[] } | undefined {
  const matchFields: NodeSelectorRequirement[] = [];
  const matchExpressions: NodeSelectorRequirement[] = [];
  for (const { device } of chosen) {
    const { nodeName, nodeSelector } = device.slice.perDeviceNodeSelection ? device.device : device.slice;
    if (nodeName || device.device.bindsToNode) return { matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] };
    for (const term of nodeSelector?.nodeSelectorTerms ?? []) {
      addMissing(matchFields, term.matchFields ?? []);
      addMissing(matchExpressions, term.matchExpressions ?? []);
    }
  }
  if (matchFields.length + matchExpressions.length === 0) return undefined;
  return { ...(matchFields.length > 0 && { matchFields }), ...(matchExpressions.length > 0 && { matchExpressions }) };
}

function addMissing(to: NodeSelectorRequirement[], requirements: readonly NodeSelectorRequirement[]): void {
  const textOf = ({ key, operator, values = [] }: NodeSelectorRequirement): string => JSON.stringify([key, operator, [...values].sort()]);
  for (const requirement of requirements) if (!to.some((one) => textOf(one) === textOf(requirement))) to.push(requirement);
}
