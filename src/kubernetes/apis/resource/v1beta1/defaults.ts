/** Defaults of resource.k8s.io/v1beta1. Upstream: pkg/apis/resource/v1beta1/defaults.go and zz_generated.defaults.go. */
import type { KubeObject } from '#apimachinery/meta/types';
import { defaultAllocatedTolerations, defaultCount, defaultDevice, defaultTolerations } from '#kubernetes/apis/resource/v1/defaults';
import type { ResourceClaim, ResourceClaimSpec, ResourceClaimTemplate, ResourceSlice } from '#kubernetes/schema/resource_v1beta1.gen';

/** Defaults the requests of a claim. A request without a class has subrequests or is invalid: it gets neither a mode nor a count. */
function defaultResourceClaimSpec(spec: ResourceClaimSpec | undefined): void {
  for (const request of spec?.devices?.requests ?? []) {
    if (request.deviceClassName) defaultCount(request);
    defaultTolerations(request.tolerations);
    for (const subrequest of request.firstAvailable ?? []) {
      defaultCount(subrequest);
      defaultTolerations(subrequest.tolerations);
    }
  }
}

export function defaultResourceClaim(claim: KubeObject): void {
  const { spec, status } = claim as ResourceClaim;
  defaultResourceClaimSpec(spec);
  defaultAllocatedTolerations(status);
}

export function defaultResourceClaimTemplate(template: KubeObject): void {
  defaultResourceClaimSpec((template as ResourceClaimTemplate).spec?.spec);
}

export function defaultResourceSlice(slice: KubeObject): void {
  for (const { basic } of (slice as ResourceSlice).spec?.devices ?? []) if (basic) defaultDevice(basic);
}
