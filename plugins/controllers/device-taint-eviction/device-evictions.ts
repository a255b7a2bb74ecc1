import { isControlledBy } from 'kubenest/sdk';
import type { Pod } from 'kubenest/types/core_v1';
import type { DeviceRequestAllocationResult, DeviceTaint, ResourceClaim, ResourceSlice } from 'kubenest/types/resource_v1';
import type { DeviceTaintRule } from 'kubenest/types/resource_v1alpha3';
import { matchesDevice } from '../../common/device-taint-rules.ts';
import { claimOf } from '../../common/resource-claims.ts';
import { tolerates } from '../../common/tolerations.ts';

/** Time at which a pod has to leave the devices of its claims, and the rules among the causes. */
export interface DeviceEviction {
  readonly dueMs: number;
  readonly rules: ReadonlySet<DeviceTaintRule>;
}

/** The objects that decide about evictions. */
export interface DeviceState {
  claim(namespace: string, name: string): ResourceClaim | undefined;
  /** All slices of a pool. */
  slices(driver: string, pool: string): readonly ResourceSlice[];
  /** Rules with the effect NoExecute. */
  rules(): readonly DeviceTaintRule[];
}

/** Returns the eviction of a pod; undefined if it may stay. Upstream: podEvictionTime. */
export function evictionOfPod(pod: Pod, state: DeviceState): DeviceEviction | undefined {
  if (!pod.spec?.nodeName) return undefined;
  const evictions = claimsOfPod(pod, state).map((claim) => evictionOfClaim(claim, state));
  return combined(evictions.filter((eviction) => eviction !== undefined));
}

/** The claims that the pod has reserved. */
function claimsOfPod(pod: Pod, state: DeviceState): ResourceClaim[] {
  const { namespace = '', uid } = pod.metadata;
  return (pod.spec?.resourceClaims ?? []).flatMap((entry) => {
    const reference = claimOf(pod, entry);
    const claim = reference?.name === undefined ? undefined : state.claim(namespace, reference.name);
    if (!reference || !claim || (reference.isGenerated && !isControlledBy(claim, pod))) return [];
    return claim.status?.reservedFor?.some((consumer) => consumer.uid === uid) ? [claim] : [];
  });
}

/** Upstream: claimEvictionTime. */
function evictionOfClaim({ status }: ResourceClaim, state: DeviceState): DeviceEviction | undefined {
  const evictions = (status?.allocation?.devices?.results ?? []).flatMap((device) =>
    [...taintsOf(device, state)].flatMap(({ taint, rule }): DeviceEviction[] => {
      const delayMs = toleratedMs(device, taint);
      if (delayMs === Infinity) return [];
      return [{ dueMs: Date.parse(taint.timeAdded ?? '') + delayMs, rules: new Set(rule ? [rule] : []) }];
    }),
  );
  return combined(evictions);
}

function combined(evictions: readonly DeviceEviction[]): DeviceEviction | undefined {
  if (evictions.length === 0) return undefined;
  return {
    dueMs: Math.min(...evictions.map(({ dueMs }) => dueMs)),
    rules: new Set(evictions.flatMap(({ rules }) => [...rules])),
  };
}

/** Taints of a device with the effect NoExecute: those of the newest slices of its pool, and those of rules. */
function* taintsOf(
  { driver = '', pool = '', device = '' }: DeviceRequestAllocationResult,
  state: DeviceState,
): Iterable<{ readonly taint: DeviceTaint; readonly rule?: DeviceTaintRule }> {
  const present = devicesOf(state.slices(driver, pool)).find(({ name }) => name === device);
  for (const taint of present?.taints ?? []) if (taint.effect === 'NoExecute') yield { taint };
  for (const rule of state.rules())
    if (rule.spec?.taint && matchesDevice(rule, { driver, pool, device })) yield { taint: rule.spec.taint, rule };
}

/** Devices of the slices of the newest generation of a pool. */
export function devicesOf(slices: readonly ResourceSlice[]): NonNullable<NonNullable<ResourceSlice['spec']>['devices']> {
  const generationOf = ({ spec }: ResourceSlice): number => spec?.pool?.generation ?? 0;
  const newest = Math.max(...slices.map(generationOf));
  return slices.filter((slice) => generationOf(slice) === newest).flatMap(({ spec }) => spec?.devices ?? []);
}

/** Time for which the tolerations of an allocated device cover a taint, from its addition on; Infinity: without end. */
function toleratedMs({ tolerations = [] }: DeviceRequestAllocationResult, taint: DeviceTaint): number {
  const matching = tolerations.filter((toleration) => toleration.effect === 'NoExecute' && tolerates(toleration, taint));
  if (matching.some(({ tolerationSeconds }) => tolerationSeconds === undefined)) return Infinity;
  const seconds = matching.map(({ tolerationSeconds = 0 }) => Math.max(tolerationSeconds, 0));
  return seconds.length === 0 ? 0 : Math.min(...seconds) * 1_000;
}
