import type { Node, NodeSelector } from 'kubenest/types/core_v1';
import type { CounterSet, Device, ResourceSlice, ResourceSliceSpec } from 'kubenest/types/resource_v1';
import { matchesNodeSelector } from '../../common/node-affinity.ts';

/** A device with its place. */
export interface PoolDevice {
  /** `driver/pool/device`. */
  readonly id: string;
  readonly device: Device;
  readonly slice: ResourceSliceSpec;
  readonly pool: Pool;
}

/** A pool of devices as one node sees it: the current generation of its slices. */
export interface Pool {
  /** `driver/pool`. */
  readonly id: string;
  /** The driver has not written all slices yet. */
  readonly isIncomplete: boolean;
  /** The slices contradict each other. */
  readonly isInvalid: boolean;
  /** Devices of the slices that are for the node. */
  readonly devices: readonly PoolDevice[];
  /** Devices of the other slices, which consume counters as well. */
  readonly otherDevices: readonly PoolDevice[];
  readonly counterSets: ReadonlyMap<string, CounterSet>;
}

/** True if devices with this node selection are available on the node. */
export function isForNode(node: Node, { nodeName, allNodes, nodeSelector }: NodeSelection): boolean {
  if (nodeName) return node.metadata.name === nodeName;
  return allNodes === true || (nodeSelector !== undefined && matchesNodeSelector(nodeSelector, node));
}

interface NodeSelection {
  readonly nodeName?: string;
  readonly allNodes?: boolean;
  readonly nodeSelector?: NodeSelector;
}

/** Slices by what decides about the nodes that see them. */
export interface SliceIndex {
  readonly all: readonly ResourceSlice[];
  /** Slices with devices of one node. */
  readonly ofNode: ReadonlyMap<string, readonly ResourceSlice[]>;
  /** All others: their nodes follow from selectors, or they have the counters of a pool. */
  readonly shared: readonly ResourceSlice[];
}

export function indexSlices(all: readonly ResourceSlice[]): SliceIndex {
  const shared = all.filter(({ spec }) => !spec?.nodeName || hasCounters(spec));
  const local = all.filter((slice) => !shared.includes(slice));
  return { all, shared, ofNode: Map.groupBy(local, ({ spec }) => spec?.nodeName ?? '') };
}

const hasCounters = ({ sharedCounters = [] }: ResourceSliceSpec): boolean => sharedCounters.length > 0;
const hasBindingConditions = ({ devices }: Pool): boolean => devices.some(({ device }) => device.bindingConditions !== undefined);

/**
 * Returns the pools with devices for a node, ordered by driver and name, those with binding conditions last. Slices of older generations
 * are ignored. Upstream: dynamic-resource-allocation/structured/internal/incubating/pools_incubating.go (GatherPools).
 */
export function gatherPools({ all, ofNode, shared }: SliceIndex, node: Node): Pool[] {
  const candidates = [...(ofNode.get(node.metadata.name ?? '') ?? []), ...shared];
  const relevant = candidates.filter(({ spec = {} }) => isSliceForNode(spec, node));
  const pools: Pool[] = [];
  for (const slices of Map.groupBy(relevant, poolId).values()) {
    const pool = gatherPool(current(slices), all);
    if (pool) pools.push(pool);
  }
  return pools.sort((a, b) => Number(hasBindingConditions(a)) - Number(hasBindingConditions(b)) || (a.id < b.id ? -1 : 1));
}

function isSliceForNode(spec: ResourceSliceSpec, node: Node): boolean {
  if (hasCounters(spec) || isForNode(node, spec)) return true;
  return spec.perDeviceNodeSelection === true && (spec.devices ?? []).some((device) => isForNode(node, device));
}

const poolId = ({ spec = {} }: ResourceSlice): string => `${spec.driver}/${spec.pool?.name}`;
const generationOf = ({ spec }: ResourceSlice): number => spec?.pool?.generation ?? 0;

function current(slices: readonly ResourceSlice[]): ResourceSlice[] {
  const newest = Math.max(...slices.map(generationOf));
  return slices.filter((slice) => generationOf(slice) === newest);
}

/** Returns undefined for a pool whose newer generation has nothing for the node. */
function gatherPool(slices: readonly ResourceSlice[], all: readonly ResourceSlice[]): Pool | undefined {
  const first = slices[0] as ResourceSlice;
  const id = poolId(first);
  const count = first.spec?.pool?.resourceSliceCount;
  if (slices.length === count) return buildPool(id, slices, []);
  const ofPool = all.filter((slice) => poolId(slice) === id);
  if (ofPool.some((slice) => generationOf(slice) > generationOf(first))) return undefined;
  const ofGeneration = current(ofPool);
  if (ofGeneration.length !== count) return { ...emptyPool, id, isIncomplete: true };
  return buildPool(
    id,
    slices,
    ofGeneration.filter((slice) => !slices.includes(slice)),
  );
}

const emptyPool = { isIncomplete: false, isInvalid: false, devices: [], otherDevices: [], counterSets: new Map<string, CounterSet>() };
const byName = (a: ResourceSlice, b: ResourceSlice): number => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1);

function buildPool(id: string, slices: readonly ResourceSlice[], others: readonly ResourceSlice[]): Pool {
  const counters = slices.flatMap(({ spec }) => spec?.sharedCounters ?? []);
  const pool = { ...emptyPool, id, counterSets: new Map(counters.map((set) => [set.name ?? '', set])) };
  const built: Pool = Object.assign(pool, { devices: devicesOf(slices, pool), otherDevices: devicesOf(others, pool) });
  return isContradictory(built, counters.length) ? { ...emptyPool, id, isInvalid: true } : built;
}

function devicesOf(slices: readonly ResourceSlice[], pool: Pool): PoolDevice[] {
  return [...slices]
    .sort(byName)
    .flatMap(({ spec = {} }) =>
      (spec.devices ?? []).map((device) => ({ id: `${pool.id}/${device.name}`, device, slice: spec, pool }) satisfies PoolDevice),
    );
}

/** True if names of devices or counter sets are not unique, or a device consumes an unknown counter. */
function isContradictory({ devices, otherDevices, counterSets }: Pool, counterSetCount: number): boolean {
  if (new Set(devices.map(({ id }) => id)).size < devices.length || counterSets.size < counterSetCount) return true;
  return [...devices, ...otherDevices].some(({ device }) =>
    (device.consumesCounters ?? []).some(({ counterSet = '', counters = {} }) => {
      const known = counterSets.get(counterSet)?.counters;
      return !known || Object.keys(counters).some((name) => !Object.hasOwn(known, name));
    }),
  );
}
