/**
 * Conversion of resource.k8s.io/v1beta1, which has the members of v1's exact request in the request itself, and the members of v1's device
 * in `basic`. Upstream: pkg/apis/resource/v1beta1/conversion.go.
 */
import type { KubeObject } from '#apimachinery/meta/types';
import type { VersionConversion } from '#apiserver/registry/resource-definition';
import type * as v1 from '#kubernetes/schema/resource_v1.gen';
import type * as v1beta1 from '#kubernetes/schema/resource_v1beta1.gen';

const apiVersions = { v1: 'resource.k8s.io/v1', v1beta1: 'resource.k8s.io/v1beta1' };

/** True if any member of an exact request is set; v1 then has an exact request, even an invalid one. */
function hasExactRequest({ name: _, firstAvailable: __, ...rest }: v1beta1.DeviceRequest): boolean {
  return Object.values(rest).some((value) => value !== undefined && value !== '' && value !== 0);
}

function toRequest(request: v1beta1.DeviceRequest): v1.DeviceRequest {
  const { name, firstAvailable, ...exactly } = request;
  return {
    ...(name !== undefined && { name }),
    ...(hasExactRequest(request) && { exactly }),
    ...(firstAvailable && { firstAvailable }),
  };
}

function fromRequest({ exactly, ...request }: v1.DeviceRequest): v1beta1.DeviceRequest {
  return { ...request, ...exactly };
}

/** Returns a claim's spec with converted requests; a spec without requests is unchanged. */
function withRequests<From, To>(spec: ClaimSpec<From> | undefined, convert: (request: From) => To): ClaimSpec<To> | undefined {
  const { devices } = spec ?? {};
  if (!devices?.requests) return spec as ClaimSpec<never> | undefined;
  return { ...spec, devices: { ...devices, requests: devices.requests.map(convert) } };
}
interface ClaimSpec<Request> {
  devices?: { requests?: Request[] };
}
interface WithSpec extends KubeObject {
  spec?: unknown;
}

/** Leaves the member out if it is undefined. */
const specOf = (spec: unknown): { spec?: unknown } => (spec === undefined ? {} : { spec });

export const resourceClaimConversion: VersionConversion = {
  toStorage: (claim: WithSpec) => ({
    ...claim,
    apiVersion: apiVersions.v1,
    ...specOf(withRequests(claim.spec as v1beta1.ResourceClaimSpec | undefined, toRequest)),
  }),
  fromStorage: (claim: WithSpec) => ({
    ...claim,
    apiVersion: apiVersions.v1beta1,
    ...specOf(withRequests(claim.spec as v1.ResourceClaimSpec | undefined, fromRequest)),
  }),
};

/** Returns a template with a converted claim spec. */
function withTemplate<From, To>(spec: { spec?: ClaimSpec<From> } | undefined, convert: (request: From) => To): unknown {
  return spec?.spec === undefined ? spec : { ...spec, ...specOf(withRequests(spec.spec, convert)) };
}

export const resourceClaimTemplateConversion: VersionConversion = {
  toStorage: (template: WithSpec) => ({
    ...template,
    apiVersion: apiVersions.v1,
    ...specOf(withTemplate(template.spec as v1beta1.ResourceClaimTemplateSpec | undefined, toRequest)),
  }),
  fromStorage: (template: WithSpec) => ({
    ...template,
    apiVersion: apiVersions.v1beta1,
    ...specOf(withTemplate(template.spec as v1.ResourceClaimTemplateSpec | undefined, fromRequest)),
  }),
};

function toDevice({ name, basic }: v1beta1.Device): v1.Device {
  return { ...(name !== undefined && { name }), ...basic };
}

/** Converts a v1 device, which is always a basic one. */
function fromDevice({ name, ...basic }: v1.Device): v1beta1.Device {
  return { ...(name !== undefined && { name }), basic };
}

/** Converts the spec of a slice to v1. In v1beta1, an empty node name and a false `allNodes` are equal to absent ones. */
function toSliceSpec({ nodeName, allNodes, devices, ...spec }: v1beta1.ResourceSliceSpec): v1.ResourceSliceSpec {
  return {
    ...spec,
    ...(nodeName && { nodeName }),
    ...(allNodes && { allNodes }),
    ...(devices && { devices: devices.map(toDevice) }),
  };
}

function fromSliceSpec({ nodeName, allNodes, devices, ...spec }: v1.ResourceSliceSpec): v1beta1.ResourceSliceSpec {
  return {
    ...spec,
    ...(nodeName && { nodeName }),
    ...(allNodes && { allNodes }),
    ...(devices && { devices: devices.map(fromDevice) }),
  };
}

export const resourceSliceConversion: VersionConversion = {
  toStorage: (slice: WithSpec) => ({
    ...slice,
    apiVersion: apiVersions.v1,
    ...specOf(slice.spec && toSliceSpec(slice.spec as v1beta1.ResourceSliceSpec)),
  }),
  fromStorage: (slice: WithSpec) => ({
    ...slice,
    apiVersion: apiVersions.v1beta1,
    ...specOf(slice.spec && fromSliceSpec(slice.spec as v1.ResourceSliceSpec)),
  }),
};
