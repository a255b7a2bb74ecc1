import type { DeviceRequestAllocationResult, ResourceClaim } from 'kubenest/types/resource_v1';

/** Time in which the conditions of the devices must become true. Upstream: DynamicResourcesBindingTimeoutDefault. */
export const bindingTimeoutMs = 600_000;

/** True if a device of the claim has to be prepared before the pod is bound. */
export function hasBindingConditions({ status }: ResourceClaim): boolean {
  return resultsOf(status).some(({ bindingConditions = [] }) => bindingConditions.length > 0);
}

/** State of the preparation of a claim's devices; an Error if it failed. */
export type Readiness = 'ready' | 'waiting' | 'timedOut' | Error;

/** Upstream: pkg/scheduler/framework/plugins/dynamicresources (isClaimReadyForBinding, isClaimTimeout). */
export function readinessOf(claim: ResourceClaim, now: number): Readiness {
  const { status = {} } = claim;
  if (!status.allocation) return 'waiting';
  for (const result of resultsOf(status)) {
    if (!result.bindingConditions?.length) continue;
    const { conditions = [] } = status.devices?.find((device) => isSame(device, result)) ?? {};
    const isTrue = (type: string): boolean => conditions.some((one) => one.type === type && one.status === 'True');
    const failed = conditions.find(({ type = '' }) => result.bindingFailureConditions?.includes(type) && isTrue(type));
    if (failed) {
      const details = `claim=${claim.metadata.name}, reason=${failed.reason}, message=${JSON.stringify(failed.message ?? '')}`;
      return new Error(`device binding failed: ${details}`);
    }
    if (!result.bindingConditions.every(isTrue)) return isTimedOut(status, now) ? 'timedOut' : 'waiting';
  }
  return 'ready';
}

type Status = NonNullable<ResourceClaim['status']>;

const resultsOf = (status: Status | undefined): readonly DeviceRequestAllocationResult[] => status?.allocation?.devices?.results ?? [];

function isTimedOut({ allocation }: Status, now: number): boolean {
  const since = allocation?.allocationTimestamp;
  return since !== undefined && Date.parse(since) + bindingTimeoutMs < now;
}

function isSame(
  device: { driver?: string; pool?: string; device?: string },
  result: { driver?: string; pool?: string; device?: string },
): boolean {
  return device.driver === result.driver && device.pool === result.pool && device.device === result.device;
}
