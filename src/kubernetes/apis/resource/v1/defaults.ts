/** Upstream: pkg/apis/resource/v1/defaults.go and zz_generated.defaults.go. */
import { now } from '#apimachinery/runtime/time';
import type {
  DeviceSubRequest,
  DeviceToleration,
  ExactDeviceRequest,
  ResourceClaim,
  ResourceClaimSpec,
  ResourceClaimTemplate,
  ResourceSlice,
} from '#kubernetes/schema/resource_v1.gen';

function defaultRequest(request: ExactDeviceRequest | DeviceSubRequest): void {
  if (!request.allocationMode) request.allocationMode = 'ExactCount';
  if (request.allocationMode === 'ExactCount' && !request.count) request.count = 1;
  defaultTolerations(request.tolerations);
}

function defaultTolerations(tolerations: readonly DeviceToleration[] | undefined): void {
  for (const toleration of tolerations ?? []) if (!toleration.operator) toleration.operator = 'Equal';
}

function defaultResourceClaimSpec(spec: ResourceClaimSpec | undefined): void {
  for (const { exactly, firstAvailable } of spec?.devices?.requests ?? []) {
    if (exactly !== undefined) defaultRequest(exactly);
    for (const request of firstAvailable ?? []) defaultRequest(request);
  }
}

export function defaultResourceClaim({ spec, status }: ResourceClaim): void {
  defaultResourceClaimSpec(spec);
  for (const { tolerations } of status?.allocation?.devices?.results ?? []) defaultTolerations(tolerations);
}

export function defaultResourceClaimTemplate({ spec }: ResourceClaimTemplate): void {
  defaultResourceClaimSpec(spec?.spec);
}

/** A taint without a time begins now. */
export function defaultResourceSlice({ spec }: ResourceSlice): void {
  for (const { taints, nodeAllocatableResourceMappings } of spec?.devices ?? []) {
    for (const mapping of Object.values(nodeAllocatableResourceMappings ?? {})) mapping.allocationMultiplier ??= '1';
    for (const taint of taints ?? []) taint.timeAdded ??= now();
  }
}
