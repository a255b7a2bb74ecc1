/** Defaults of resource.k8s.io/v1. Upstream: pkg/apis/resource/v1/defaults.go and zz_generated.defaults.go. */
import { now } from '#apimachinery/runtime/time';
import type {
  Device,
  DeviceSubRequest,
  DeviceTaint,
  DeviceToleration,
  ExactDeviceRequest,
  ResourceClaim,
  ResourceClaimSpec,
  ResourceClaimStatus,
  ResourceClaimTemplate,
  ResourceSlice,
} from '#kubernetes/schema/resource_v1.gen';

/** Defaults the allocation mode and the number of devices of a request. */
export function defaultCount(request: Pick<ExactDeviceRequest, 'allocationMode' | 'count'>): void {
  if (!request.allocationMode) request.allocationMode = 'ExactCount';
  if (request.allocationMode === 'ExactCount' && !request.count) request.count = 1;
}

export function defaultTolerations(tolerations: readonly DeviceToleration[] | undefined): void {
  for (const toleration of tolerations ?? []) if (!toleration.operator) toleration.operator = 'Equal';
}

function defaultRequest(request: ExactDeviceRequest | DeviceSubRequest): void {
  defaultCount(request);
  defaultTolerations(request.tolerations);
}

function defaultResourceClaimSpec(spec: ResourceClaimSpec | undefined): void {
  for (const { exactly, firstAvailable } of spec?.devices?.requests ?? []) {
    if (exactly !== undefined) defaultRequest(exactly);
    for (const request of firstAvailable ?? []) defaultRequest(request);
  }
}

export function defaultAllocatedTolerations(status: ResourceClaimStatus | undefined): void {
  for (const { tolerations } of status?.allocation?.devices?.results ?? []) defaultTolerations(tolerations);
}

export function defaultResourceClaim({ spec, status }: ResourceClaim): void {
  defaultResourceClaimSpec(spec);
  defaultAllocatedTolerations(status);
}

export function defaultResourceClaimTemplate({ spec }: ResourceClaimTemplate): void {
  defaultResourceClaimSpec(spec?.spec);
}

/** Sets the time of a taint that has none to now. */
export function defaultTaint(taint: DeviceTaint): void {
  taint.timeAdded ??= now();
}

export function defaultDevice({ taints, nodeAllocatableResourceMappings }: Device): void {
  for (const mapping of Object.values(nodeAllocatableResourceMappings ?? {})) mapping.allocationMultiplier ??= '1';
  for (const taint of taints ?? []) defaultTaint(taint);
}

export function defaultResourceSlice({ spec }: ResourceSlice): void {
  for (const device of spec?.devices ?? []) defaultDevice(device);
}
