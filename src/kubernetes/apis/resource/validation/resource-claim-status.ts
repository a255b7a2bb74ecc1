/** Validation of a claim's status, which drivers and the scheduler write. Upstream: pkg/apis/resource/validation/validation.go. */
import { quote } from '#apimachinery/runtime/quote';
import { semanticDeepEqual } from '#apimachinery/runtime/semantic-equality';
import {
  addErrors,
  type FieldError,
  fieldPath,
  forbidden,
  invalid,
  JsonText,
  notSupported,
  type Path,
  required,
  tooLong,
  tooMany,
} from '#apimachinery/validation/field';
import { isValidInterfaceAddress } from '#apimachinery/validation/ip';
import { fieldImmutableError, validateConditions } from '#apimachinery/validation/object-meta';
import { validateNodeSelector } from '#kubernetes/apis/core/validation/affinity';
import { byteLength } from '#kubernetes/apis/core/validation/checks';
import type {
  AllocatedDeviceStatus,
  AllocationResult,
  DeviceAllocationConfiguration,
  DeviceRequestAllocationResult,
  NetworkDeviceData,
  ResourceClaim,
  ResourceClaimConsumerReference,
} from '#kubernetes/schema/resource_v1.gen';
import { schema } from '#kubernetes/schema/schema';
import { validateBindingConditions } from './device.ts';
import { type RequestNames, requestNamesOf, validateRequestReference, validateRequestReferences } from './device-claim.ts';
import { validateDeviceConfiguration, validateRawObject } from './device-configuration.ts';
import { validateDeviceName, validateDistinctItems, validateDriverName, validateItems, validatePoolName } from './device-names.ts';
import { goValue } from './go-value.ts';

const maxConsumers = 256;
const maxResults = 32;
/** Limit for the configurations of class and claim together. */
const maxConfigurations = 64;
const maxConditions = 8;
const maxAddresses = 16;
const maxInterfaceName = 256;
const maxHardwareAddress = 128;
const configurationSources = ['FromClaim', 'FromClass'];

const path = fieldPath('status');
const reservedPath = path.child('reservedFor');

/**
 * Validates an update of the status. An allocation is immutable until it is removed; only allocated claims can be reserved, and only their
 * devices have a status.
 */
export function validateResourceClaimStatusUpdate(
  { metadata, spec, status = {} }: ResourceClaim,
  { status: old = {} }: ResourceClaim,
): FieldError[] {
  const { allocation, reservedFor = [], devices } = status;
  const errors: FieldError[] = [];
  validateDistinctItems(errors, reservedFor, maxConsumers, reservedPath, ({ uid = '' }) => uid, validateConsumer);
  const allocated = new Set((allocation?.devices?.results ?? []).map(deviceKey));
  const validateDevice = (_: unknown, device: AllocatedDeviceStatus, at: Path) => validateDeviceStatus(errors, device, at, allocated);
  validateDistinctItems(
    errors,
    devices,
    Number.POSITIVE_INFINITY,
    path.child('devices'),
    deviceKey,
    validateDevice,
    (key) => new JsonText(key),
  );
  if (reservedFor.length > 0 && !allocation) errors.push(forbidden(reservedPath, 'may not be specified when `allocated` is not set'));
  const isNew = (consumer: ResourceClaimConsumerReference) => !old.reservedFor?.some((one) => semanticDeepEqual(one, consumer));
  if (allocation && metadata.deletionTimestamp !== undefined && reservedFor.some(isNew))
    errors.push(forbidden(reservedPath, 'new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set'));
  const place = path.child('allocation');
  if (allocation && old.allocation) {
    if (!semanticDeepEqual(allocation, old.allocation))
      errors.push(invalid(place, goValue(schema.struct('resource_v1.AllocationResult'), allocation), fieldImmutableError));
  } else if (allocation) validateAllocation(errors, allocation, place, requestNamesOf(spec?.devices));
  return errors;
}

function validateConsumer(errors: FieldError[], consumer: ResourceClaimConsumerReference, at: Path): void {
  for (const field of ['resource', 'name', 'uid'] as const) if (!consumer[field]) errors.push(required(at.child(field)));
}

function validateAllocation(errors: FieldError[], { devices = {}, nodeSelector }: AllocationResult, at: Path, names: RequestNames): void {
  const place = at.child('devices');
  validateItems(errors, devices.results, maxResults, place.child('results'), (_, result, item) =>
    validateResult(errors, result, item, names),
  );
  validateItems(errors, devices.config, maxConfigurations, place.child('config'), (_, config, item) =>
    validateConfiguration(errors, config, item, names),
  );
  if (nodeSelector) validateNodeSelector(errors, nodeSelector, () => false, at.child('nodeSelector'));
}

function validateResult(errors: FieldError[], result: DeviceRequestAllocationResult, at: Path, names: RequestNames): void {
  validateRequestReference(errors, result.request ?? '', at.child('request'), names);
  validateDriverName(errors, result.driver, at.child('driver'));
  validatePoolName(errors, result.pool, at.child('pool'));
  validateDeviceName(errors, result.device, at.child('device'));
  validateBindingConditions(errors, result, at);
  validateShare(errors, result.shareID, at.child('shareID'));
}

function validateConfiguration(errors: FieldError[], config: DeviceAllocationConfiguration, at: Path, names: RequestNames): void {
  const { source = '' } = config;
  if (source === '') errors.push(required(at.child('source')));
  else if (!configurationSources.includes(source)) errors.push(notSupported(at.child('source'), source, configurationSources));
  validateRequestReferences(errors, config.requests, at.child('requests'), names);
  validateDeviceConfiguration(errors, config, at);
}

function validateDeviceStatus(errors: FieldError[], device: AllocatedDeviceStatus, at: Path, allocated: ReadonlySet<string>): void {
  const { driver = '', pool = '', conditions = [], data, networkData } = device;
  validateDriverName(errors, driver, at.child('driver'));
  validatePoolName(errors, pool, at.child('pool'));
  validateDeviceName(errors, device.device, at.child('device'));
  validateShare(errors, device.shareID, at.child('shareID'));
  const key = deviceKey(device);
  if (!allocated.has(key)) errors.push(invalid(at, new JsonText(key), 'must be an allocated device in the claim'));
  if (conditions.length > maxConditions) errors.push(tooMany(at.child('conditions'), conditions.length, maxConditions));
  addErrors(errors, validateConditions(conditions, at.child('conditions')));
  if (data !== undefined && data !== null) validateRawObject(errors, data, at.child('data'));
  if (networkData) validateNetworkData(errors, networkData, at.child('networkData'));
}

function validateNetworkData(errors: FieldError[], { interfaceName = '', hardwareAddress = '', ips }: NetworkDeviceData, at: Path): void {
  if (byteLength(interfaceName) > maxInterfaceName) errors.push(tooLong(at.child('interfaceName'), '', maxInterfaceName));
  if (byteLength(hardwareAddress) > maxHardwareAddress) errors.push(tooLong(at.child('hardwareAddress'), '', maxHardwareAddress));
  validateDistinctItems(
    errors,
    ips,
    maxAddresses,
    at.child('ips'),
    (address) => address,
    (_, address, item) => {
      addErrors(errors, isValidInterfaceAddress(item, address));
    },
  );
}

/** Returns the key of a device share in the form of messages. */
function deviceKey({ driver = '', pool = '', device = '', shareID = '' }: AllocatedDeviceStatus): string {
  return JSON.stringify({ Driver: driver, Pool: pool, Device: device, ShareID: shareID });
}

function validateShare(errors: FieldError[], id: string | undefined, at: Path): void {
  const problem = id === undefined ? undefined : shareProblem(id);
  if (problem !== undefined) errors.push(invalid(at, id, problem));
}

/** Returns the error of a share id, which must be a UUID. Upstream: validateUID, over uuid.Validate of github.com/google/uuid. */
function shareProblem(id: string): string | undefined {
  if (/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/.test(id)) return undefined;
  const wrong = uuidProblem(id);
  if (wrong !== undefined) return `error validating uid: ${wrong}`;
  const form = '`xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx`';
  return `uid must be in RFC 4122 normalized form, ${form} with lowercase hexadecimal characters`;
}

/** Returns the error of a UUID in one of its forms: with `urn:uuid:`, in braces, without dashes, or canonical. */
function uuidProblem(id: string): string | undefined {
  const isHex = (text: string, form: RegExp) => (form.test(text) ? undefined : 'invalid UUID format');
  const dashed = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
  switch (byteLength(id)) {
    case 45:
      return /^urn:uuid:/i.test(id) ? isHex(id.slice(9), dashed) : `invalid urn prefix: ${quote(id.slice(0, 9))}`;
    case 38:
      return /^\{.*\}$/.test(id) ? isHex(id.slice(1, -1), dashed) : 'invalid bracketed UUID format';
    case 36:
      return isHex(id, dashed);
    case 32:
      return isHex(id, /^[\da-f]{32}$/i);
    default:
      return `invalid UUID length: ${byteLength(id)}`;
  }
}
