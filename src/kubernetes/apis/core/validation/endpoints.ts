/** Validation of Endpoints. Upstream: pkg/apis/core/validation. */
import { semanticDeepEqual } from '#apimachinery/runtime/semantic-equality';
import { addErrors, type FieldError, type Path, fieldPath, invalid, required } from '#apimachinery/validation/field';
import { getWarningsForIP, parseIPSloppy } from '#apimachinery/validation/ip';
import { isValidPortNum, nameIsDNSSubdomain } from '#apimachinery/validation/names';
import type { ServerTraits } from '#apiserver/registry/resource-definition';
import type { EndpointAddress, EndpointPort, EndpointSubset, Endpoints } from '#kubernetes/schema/core_v1.gen';
import { check, validateDNS1123Label, validateIP, validateQualifiedName, validateRequiredEnum } from './checks.ts';
import { portProtocols } from './containers.ts';
import { validateMetaAgain } from './object-meta.ts';

export function validateEndpoints({ subsets = [] }: Endpoints, server: ServerTraits): FieldError[] {
  const errors: FieldError[] = [];
  for (const [i, subset] of subsets.entries()) validateSubset(errors, subset, fieldPath('subsets').index(i), server);
  return errors;
}

/** Validates an update. Unchanged subsets are not validated. */
export function validateEndpointsUpdate(endpoints: Endpoints, old: Endpoints, server: ServerTraits): FieldError[] {
  const errors: FieldError[] = [];
  validateMetaAgain(errors, endpoints.metadata, nameIsDNSSubdomain);
  const found = validateEndpoints(endpoints, server);
  if (found.length > 0 && !semanticDeepEqual(endpoints.subsets, old.subsets)) addErrors(errors, found);
  return errors;
}

function validateSubset(
  errors: FieldError[],
  { addresses = [], notReadyAddresses = [], ports = [] }: EndpointSubset,
  path: Path,
  server: ServerTraits,
): void {
  if (addresses.length === 0 && notReadyAddresses.length === 0)
    errors.push(required(path, 'must specify `addresses` or `notReadyAddresses`'));
  for (const [i, address] of addresses.entries()) validateAddress(errors, address, path.child('addresses').index(i), server);
  for (const [i, address] of notReadyAddresses.entries())
    validateAddress(errors, address, path.child('notReadyAddresses').index(i), server);
  for (const [i, port] of ports.entries()) validatePort(errors, port, ports.length > 1, path.child('ports').index(i));
}

function validateAddress(errors: FieldError[], { ip = '', hostname, nodeName }: EndpointAddress, path: Path, server: ServerTraits): void {
  validateIP(errors, ip, path.child('ip'), server);
  if (hostname) validateDNS1123Label(errors, hostname, path, 'hostname');
  if (nodeName !== undefined) check(errors, nameIsDNSSubdomain(nodeName, false), nodeName, path, 'nodeName');
  validateEndpointIP(errors, ip, path.child('ip'));
}

/** Validates an address of an endpoint: not unspecified, loopback or link-local. */
export function validateEndpointIP(errors: FieldError[], ip: string, path: Path): void {
  const bytes = parseIPSloppy(ip)?.bytes;
  if (!bytes) {
    errors.push(invalid(path, ip, 'must be a valid IP address'));
    return;
  }
  const [a = 0, b = 0, c = 0] = bytes;
  const isV4 = bytes.length === 4;
  const isZeroBefore = (end: number) => bytes.slice(0, end).every((byte) => byte === 0);
  if (isZeroBefore(bytes.length)) errors.push(invalid(path, ip, `may not be unspecified (${ip})`));
  if (isV4 ? a === 127 : isZeroBefore(15) && bytes[15] === 1)
    errors.push(invalid(path, ip, 'may not be in the loopback range (127.0.0.0/8, ::1/128)'));
  if (isV4 ? a === 169 && b === 254 : a === 0xfe && (b & 0xc0) === 0x80)
    errors.push(invalid(path, ip, 'may not be in the link-local range (169.254.0.0/16, fe80::/10)'));
  if (isV4 ? a === 224 && b === 0 && c === 0 : a === 0xff && (b & 0x0f) === 0x02) {
    errors.push(invalid(path, ip, 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)'));
  }
}

function validatePort(
  errors: FieldError[],
  { name, port = 0, protocol, appProtocol }: EndpointPort,
  requireName: boolean,
  path: Path,
): void {
  if (name) validateDNS1123Label(errors, name, path, 'name');
  else if (requireName) errors.push(required(path.child('name')));
  check(errors, isValidPortNum(port), port, path, 'port');
  validateRequiredEnum(errors, protocol, portProtocols, path, 'protocol');
  if (appProtocol !== undefined) validateQualifiedName(errors, appProtocol, path, 'appProtocol');
}

/** Warnings about Endpoints, except those of the endpoints controller. */
export function endpointsWarnings({ metadata, subsets = [] }: Endpoints): string[] {
  if (metadata.labels?.['endpoints.kubernetes.io/managed-by'] === 'endpoint-controller') return [];
  return subsets.flatMap((subset, i) =>
    (['addresses', 'notReadyAddresses'] as const).flatMap((list) =>
      (subset[list] ?? []).flatMap(({ ip = '' }, j) =>
        getWarningsForIP(fieldPath('subsets').index(i).child(list).index(j).child('ip'), ip),
      ),
    ),
  );
}
