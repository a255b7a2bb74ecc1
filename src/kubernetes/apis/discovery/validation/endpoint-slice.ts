/**
 * Validation of endpoint slices, which are large and numerous: paths are built only for errors. Upstream:
 * pkg/apis/discovery/validation/validation.go.
 */
import { semanticDeepEqual } from '#apimachinery/runtime/semantic-equality';
import {
  addErrors,
  type FieldError,
  type Path,
  duplicate,
  fieldPath,
  invalid,
  notSupported,
  required,
  tooMany,
  named,
} from '#apimachinery/validation/field';
import { getWarningsForIP, isValidIP, isValidIPForLegacyField, parseIPSloppy } from '#apimachinery/validation/ip';
import {
  isDNS1123Label,
  isFullyQualifiedDomainName,
  isQualifiedName,
  isValidLabelValue,
  nameIsDNSSubdomain,
} from '#apimachinery/validation/names';
import { fieldImmutableError, validateLabels } from '#apimachinery/validation/object-meta';
import type { ServerTraits } from '#apiserver/registry/resource-definition';
import { validatesStrictAddresses } from '#kubernetes/apis/core/capabilities';
import { check } from '#kubernetes/apis/core/validation/checks';
import { validateEndpointIP } from '#kubernetes/apis/core/validation/endpoints';
import { validateMetaAgain } from '#kubernetes/apis/core/validation/object-meta';
import type { Endpoint, EndpointHints, EndpointPort, EndpointSlice } from '#kubernetes/schema/discovery_v1.gen';

const addressTypes = ['FQDN', 'IPv4', 'IPv6'];
const protocols = ['SCTP', 'TCP', 'UDP'];
const maxTopologyLabels = 16;
const maxAddresses = 100;
const maxPorts = 20_000;
const maxEndpoints = 1000;
const maxHints = 8;
const endpointsPath = fieldPath('endpoints');
const portsPath = fieldPath('ports');

export function validateEndpointSlice(slice: EndpointSlice, old: EndpointSlice | undefined, server: ServerTraits): FieldError[] {
  const errors: FieldError[] = [];
  const { addressType = '', ports, endpoints } = slice;
  if (addressType === '') errors.push(required(fieldPath('addressType')));
  else if (!addressTypes.includes(addressType)) errors.push(notSupported(fieldPath('addressType'), addressType, addressTypes));
  if (ports) validatePorts(errors, ports);
  if (!endpoints) return errors;
  const ofEndpoints: FieldError[] = [];
  validateEndpoints(ofEndpoints, endpoints, addressType, server);
  // Stored endpoints may violate newer rules.
  if (ofEndpoints.length > 0 && !(old && semanticDeepEqual(old.endpoints, endpoints))) addErrors(errors, ofEndpoints);
  return errors;
}

export function validateEndpointSliceUpdate(slice: EndpointSlice, old: EndpointSlice, server: ServerTraits): FieldError[] {
  const errors: FieldError[] = [];
  validateMetaAgain(errors, slice.metadata, nameIsDNSSubdomain);
  addErrors(errors, validateEndpointSlice(slice, old, server));
  if (slice.addressType !== old.addressType)
    errors.push(invalid(fieldPath('addressType'), named(slice.addressType ?? ''), fieldImmutableError));
  return errors;
}

function validatePorts(errors: FieldError[], ports: readonly EndpointPort[]): void {
  if (ports.length > maxPorts) {
    errors.push(tooMany(portsPath, ports.length, maxPorts));
    return;
  }
  const names = new Set<string>();
  for (let i = 0; i < ports.length; i++) {
    const { name = '', protocol, appProtocol } = ports[i]!;
    const at = (field: string) => portsPath.index(i).child(field);
    if (name !== '') for (const message of isDNS1123Label(name)) errors.push(invalid(at('name'), name, message));
    if (names.has(name)) errors.push(duplicate(at('name'), name));
    names.add(name);
    if (protocol === undefined) errors.push(required(at('protocol')));
    else if (!protocols.includes(protocol)) errors.push(notSupported(at('protocol'), protocol, protocols));
    if (appProtocol !== undefined)
      for (const message of isQualifiedName(appProtocol)) errors.push(invalid(at('appProtocol'), appProtocol, message));
  }
}

function validateEndpoints(errors: FieldError[], endpoints: readonly Endpoint[], addressType: string, server: ServerTraits): void {
  if (endpoints.length > maxEndpoints) {
    errors.push(tooMany(endpointsPath, endpoints.length, maxEndpoints));
    return;
  }
  for (let i = 0; i < endpoints.length; i++) validateEndpoint(errors, endpoints[i]!, addressType, endpointsPath.index(i), server);
}

function validateEndpoint(errors: FieldError[], endpoint: Endpoint, addressType: string, path: Path, server: ServerTraits): void {
  const { addresses = [], nodeName, deprecatedTopology: topology, hostname, hints } = endpoint;
  const addressesPath = path.child('addresses');
  if (addresses.length === 0) errors.push(required(addressesPath, 'must contain at least 1 address'));
  else if (addresses.length > maxAddresses) errors.push(tooMany(addressesPath, addresses.length, maxAddresses));
  for (let i = 0; i < addresses.length; i++) validateAddress(errors, addresses[i]!, addressType, addressesPath, i, server);
  if (nodeName !== undefined) check(errors, nameIsDNSSubdomain(nodeName, false), nodeName, path, 'nodeName');
  if (topology) {
    const count = Object.keys(topology).length;
    if (count > maxTopologyLabels) errors.push(tooMany(path.child('deprecatedTopology'), count, maxTopologyLabels));
    addErrors(errors, validateLabels(topology, path.child('deprecatedTopology')));
  }
  if (hostname !== undefined) check(errors, isDNS1123Label(hostname), hostname, path, 'hostname');
  if (hints) validateHints(errors, hints, path.child('hints'));
}

function validateAddress(errors: FieldError[], address: string, addressType: string, path: Path, i: number, server: ServerTraits): void {
  if (addressType === 'FQDN') addErrors(errors, isFullyQualifiedDomainName(path.index(i), address));
  if (addressType !== 'IPv4' && addressType !== 'IPv6') return;
  const at = path.index(i);
  const wrong = addressType === 'IPv4' ? isValidIPForLegacyField(at, address, validatesStrictAddresses(server)) : isValidIP(at, address);
  if (wrong.length > 0) {
    addErrors(errors, wrong);
    return;
  }
  const length = parseIPSloppy(address)?.bytes.length;
  if (addressType === 'IPv4' && length !== 4) errors.push(invalid(path, address, 'must be an IPv4 address'));
  if (addressType === 'IPv6' && length !== 16) errors.push(invalid(path, address, 'must be an IPv6 address'));
  validateEndpointIP(errors, address, at);
}

function validateHints(errors: FieldError[], { forZones = [], forNodes = [] }: EndpointHints, path: Path): void {
  for (const [field, hints, rule] of [
    ['forZones', forZones, isValidLabelValue],
    ['forNodes', forNodes, (name: string) => nameIsDNSSubdomain(name, false)],
  ] as const) {
    const at = path.child(field);
    if (hints.length > maxHints) {
      errors.push(tooMany(at, hints.length, maxHints));
      return;
    }
    const seen = new Set<string>();
    for (const [i, { name = '' }] of hints.entries()) {
      if (seen.has(name)) errors.push(duplicate(at.index(i).child('name'), name));
      seen.add(name);
      for (const message of rule(name)) errors.push(invalid(at.index(i).child('name'), name, message));
    }
  }
}

export function addressTypeWarnings({ addressType }: EndpointSlice): string[] {
  return addressType === 'FQDN' ? ['spec.addressType: FQDN endpoints are deprecated'] : [];
}

const controllers: ReadonlySet<string> = new Set(['endpointslice-controller.k8s.io', 'endpointslicemirroring-controller.k8s.io']);

/** Warns about addresses in a non-canonical form; the cluster's controllers write none. */
export function addressWarnings({ metadata, endpoints = [] }: EndpointSlice): string[] {
  if (controllers.has(metadata.labels?.['endpointslice.kubernetes.io/managed-by'] ?? '')) return [];
  return endpoints.flatMap(({ addresses = [] }, i) =>
    addresses.flatMap((address, j) => getWarningsForIP(endpointsPath.index(i).child('addresses').index(j), address)),
  );
}
