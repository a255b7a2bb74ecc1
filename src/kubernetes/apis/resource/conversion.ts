/**
 * resource.k8s.io/v1beta1 has what v1 says of an exact request in the request itself, and what v1 says of a device in its
 * `basic`. Upstream: pkg/apis/resource/v1beta1/conversion.go.
 */
import type { KubeObject } from '#apimachinery/meta/types';
import type { VersionConversion } from '#apiserver/registry/resource-definition';
import type * as v1 from '#kubernetes/schema/resource_v1.gen';
import type * as v1beta1 from '#kubernetes/schema/resource_v1beta1.gen';

const apiVersions = { v1: 'resource.k8s.io/v1', v1beta1: 'resource.k8s.io/v1beta1' };

/** Whether anything is said of one exact request; then v1 has it as such, be it right or not. */
function saysExactly({ name: _, firstAvailable: __, ...rest }: v1beta1.DeviceRequest): boolean {
  return Object.values(rest).some((value) => value !== undefined && value !== '' && value !== 0);
}

function toRequest(request: v1beta1.DeviceRequest): v1.DeviceRequest {
  const { name, firstAvailable, ...exactly } = request;
  return {
    ...(name !== undefined && { name }),
    ...(saysExactly(request) && { exactly }),
    ...(firstAvailable && { firstAvailable }),
  };
}

function fromRequest({ exactly, ...request }: v1.DeviceRequest): v1beta1.DeviceRequest {
  return { ...request, ...exactly };
}

/** A claim's spec with its requests in the other form; what has no requests stays as it is. */
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

/** Without the member where there is none. */
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

/** The claim's spec of a template in the other form. */
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

/** v1 has nothing but basic devices. */
function fromDevice({ name, ...basic }: v1.Device): v1beta1.Device {
  return { ...(name !== undefined && { name }), basic };
}

/** v1beta1 does not tell an empty node name and a false `allNodes` from none. */
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
