/** Validation of the requests in claims and their templates. Upstream: pkg/apis/resource/validation/validation.go. */
import { type FieldError, invalid, notSupported, type Path, required } from '#apimachinery/validation/field';
import { isDNS1123Label, isDNS1123Subdomain } from '#apimachinery/validation/names';
import type { ServerTraits } from '#apiserver/registry/resource-definition';
import { isOptedOut } from '#kubernetes/apis/core/capabilities';
import { check } from '#kubernetes/apis/core/validation/checks';
import type {
  DeviceClaim,
  DeviceConstraint,
  DeviceRequest,
  DeviceSubRequest,
  ExactDeviceRequest,
  ResourceClaimSpec,
} from '#kubernetes/schema/resource_v1.gen';
import { validateDeviceConfiguration } from './device-configuration.ts';
import { validateDistinctItems, validateFullyQualifiedName, validateItems } from './device-names.ts';
import { validateDeviceSelectors } from './device-selectors.ts';
import { validateDeviceToleration } from './taints.ts';

const maxRequests = 32;
const maxConstraints = 32;
const maxConfigurations = 32;
const maxSubrequests = 8;
const allocationModes = ['All', 'ExactCount'];
const noSuchRequest = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";

/** Names of a claim's requests, each with the names of its subrequests. */
export type RequestNames = ReadonlyMap<string, ReadonlySet<string>>;

export function requestNamesOf(claim: DeviceClaim | undefined): RequestNames {
  return new Map(
    (claim?.requests ?? []).map(({ name = '', firstAvailable = [] }) => [name, new Set(firstAvailable.map((one) => one.name ?? ''))]),
  );
}

export function validateResourceClaimSpec(
  errors: FieldError[],
  spec: ResourceClaimSpec | undefined,
  path: Path,
  server: ServerTraits,
): void {
  const devices = spec?.devices ?? {};
  const place = path.child('devices');
  const names = requestNamesOf(devices);
  const nameOf = ({ name = '' }: { name?: string }) => name;
  validateDistinctItems(errors, devices.requests, maxRequests, place.child('requests'), nameOf, validateRequest);
  validateItems(errors, devices.constraints, maxConstraints, place.child('constraints'), (_, constraint, at) =>
    validateConstraint(errors, constraint, at, names, server),
  );
  validateItems(errors, devices.config, maxConfigurations, place.child('config'), (_, config, at) => {
    validateRequestReferences(errors, config.requests, at.child('requests'), names);
    validateDeviceConfiguration(errors, config, at);
  });
}

function validateRequest(errors: FieldError[], { name = '', exactly, firstAvailable = [] }: DeviceRequest, path: Path): void {
  check(errors, isDNS1123Label(name), name, path, 'name');
  const kinds = 'exactly one of `exactly` or `firstAvailable` is required';
  if (exactly && firstAvailable.length > 0) errors.push(invalid(path, undefined, `${kinds}, but multiple fields are set`));
  else if (exactly) validateDevices(errors, exactly, path.child('exactly'));
  else if (firstAvailable.length === 0) errors.push(required(path, kinds));
  else {
    const nameOf = (subrequest: DeviceSubRequest) => subrequest.name ?? '';
    validateDistinctItems(errors, firstAvailable, maxSubrequests, path.child('firstAvailable'), nameOf, (_, subrequest, at) => {
      check(errors, isDNS1123Label(nameOf(subrequest)), nameOf(subrequest), at, 'name');
      validateDevices(errors, subrequest, at);
    });
  }
}

/** Validates the fields that requests and subrequests share. */
function validateDevices(errors: FieldError[], request: ExactDeviceRequest | DeviceSubRequest, path: Path): void {
  const { deviceClassName, selectors, allocationMode = '', count = 0, tolerations = [] } = request;
  if (!deviceClassName) errors.push(required(path.child('deviceClassName')));
  else check(errors, isDNS1123Subdomain(deviceClassName), deviceClassName, path, 'deviceClassName');
  validateDeviceSelectors(errors, selectors, path.child('selectors'));
  if (!allocationModes.includes(allocationMode)) errors.push(notSupported(path.child('allocationMode'), allocationMode, allocationModes));
  else if (allocationMode === 'ExactCount' && count <= 0) errors.push(invalid(path.child('count'), count, 'must be greater than zero'));
  else if (allocationMode === 'All' && count !== 0)
    errors.push(invalid(path.child('count'), count, "must not be specified when allocationMode is 'All'"));
  for (const [i, toleration] of tolerations.entries()) validateDeviceToleration(errors, toleration, path.child('tolerations').index(i));
}

function validateConstraint(
  errors: FieldError[],
  constraint: DeviceConstraint,
  path: Path,
  names: RequestNames,
  server: ServerTraits,
): void {
  const { requests, matchAttribute, distinctAttribute } = constraint;
  validateRequestReferences(errors, requests, path.child('requests'), names);
  if (matchAttribute !== undefined) validateFullyQualifiedName(errors, matchAttribute, path.child('matchAttribute'));
  else if (distinctAttribute !== undefined) validateFullyQualifiedName(errors, distinctAttribute, path.child('distinctAttribute'));
  else if (isOptedOut(server, 'DRAConsumableCapacity')) errors.push(required(path.child('matchAttribute')));
  else errors.push(required(path, 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'));
}

export function validateRequestReferences(
  errors: FieldError[],
  requests: readonly string[] | undefined,
  path: Path,
  names: RequestNames,
): void {
  validateDistinctItems(
    errors,
    requests,
    maxRequests,
    path,
    (name) => name,
    (_, name, at) => validateRequestReference(errors, name, at, names),
  );
}

/** Validates a reference: `request`, or `request/subrequest`. */
export function validateRequestReference(errors: FieldError[], name: string, path: Path, names: RequestNames): void {
  const segments = name.split('/');
  const [request = '', subrequest] = segments;
  const isKnown = subrequest === undefined ? names.has(request) : names.get(request)?.has(subrequest) === true;
  if (segments.length <= 2) for (const segment of segments) check(errors, isDNS1123Label(segment), segment, path);
  if (segments.length > 2 || !isKnown) errors.push(invalid(path, name, noSuchRequest));
}
