/** Validation of devices. Upstream: pkg/apis/resource/validation/validation.go. */
import { presentKeys } from '#apimachinery/runtime/wide-objects';
import {
  addErrors,
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  notFound,
  type Path,
  required,
  stopIfTooMany,
  tooLong,
  tooMany,
  named,
} from '#apimachinery/validation/field';
import { isDNS1123Label, isDNS1123Subdomain, isQualifiedName } from '#apimachinery/validation/names';
import { errorsOfEach } from '#apimachinery/validation/pausing';
import { isNativeResource } from '#kubernetes/apis/core/resource-list';
import { validateNodeSelector } from '#kubernetes/apis/core/validation/affinity';
import { byteLength, check, compareAmounts } from '#kubernetes/apis/core/validation/checks';
import type { CounterSet, Device, DeviceAttribute, DeviceCounterConsumption } from '#kubernetes/schema/resource_v1.gen';
import { schema } from '#kubernetes/schema/schema';
import { validateRequestPolicy } from './capacity-request-policy.ts';
import { validateDeviceName, validateDistinctItems, validateItems, validateQualifiedName } from './device-names.ts';
import { goValue } from './go-value.ts';
import { validateDeviceTaint } from './taints.ts';

const maxAttributesAndCapacities = 32;
const maxAttributeValues = 48;
const maxValueBytes = 64;
const maxKeyLength = 63 + 1 + 32;
const maxTaints = 16;
const maxConsumptions = 2;
const maxCounters = 32;
const maxConditions = 4;
const scopes =
  'exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec';
const semanticVersion =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$/;

export function validateDevice(errors: FieldError[], device: Device, path: Path, hasOwnScope: boolean, areTaintsKept: boolean): void {
  const { attributes = {}, capacity = {}, taints, consumesCounters } = device;
  validateDeviceName(errors, device.name, path.child('name'));
  const keys = presentKeys(attributes);
  const capacities = presentKeys(capacity);
  const entries = keys.length + capacities.length;
  if (entries > maxAttributesAndCapacities)
    errors.push(invalid(path, entries, `the total number of attributes and capacities must not exceed ${maxAttributesAndCapacities}`));
  const values = keys.reduce((sum, key) => sum + Math.max(1, listLength(attributes[key]!)), 0);
  if (values > maxAttributeValues)
    errors.push(invalid(path, values, `the total number of attribute values must not exceed ${maxAttributeValues}`));
  const attributesPath = path.child('attributes');
  const validateEntry = (found: FieldError[], key: string): void => {
    validateQualifiedName(found, key, attributesPath);
    validateAttribute(found, attributes[key]!, attributesPath.key(shortened(key, maxKeyLength)));
    stopIfTooMany(found);
  };
  addErrors(errors, errorsOfEach(attributes, attributesPath, keys, validateEntry));
  const capacityPath = path.child('capacity');
  const validateCapacity = (found: FieldError[], key: string): void => {
    const { value = '0', requestPolicy } = capacity[key]!;
    validateQualifiedName(found, key, capacityPath);
    const place = capacityPath.key(shortened(key, maxKeyLength)).child('requestPolicy');
    if (requestPolicy && device.allowMultipleAllocations) validateRequestPolicy(found, requestPolicy, value, place);
    else if (requestPolicy) found.push(forbidden(place, 'allowMultipleAllocations must be true'));
    stopIfTooMany(found);
  };
  addErrors(errors, errorsOfEach(capacity, capacityPath, capacities, validateCapacity));
  if (!areTaintsKept)
    validateItems(errors, taints, maxTaints, path.child('taints'), (_, taint, at) => validateDeviceTaint(errors, taint, at));
  const setOf = ({ counterSet = '' }: DeviceCounterConsumption) => counterSet;
  validateDistinctItems(
    errors,
    consumesCounters,
    maxConsumptions,
    path.child('consumesCounters'),
    setOf,
    (_, { counterSet, counters }, at) => {
      validateCounters(errors, 'counterSet', counterSet, counters, at);
    },
  );
  if (hasOwnScope) validateScope(errors, device, path);
  else if (device.nodeName !== undefined || device.nodeSelector || device.allNodes !== undefined) {
    const detail =
      '`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec';
    errors.push(invalid(path, undefined, detail));
  }
  validateBindingConditions(errors, device, path);
  validateMappings(errors, device, path.child('nodeAllocatableResourceMappings'));
}

function listLength({ bools = [], ints = [], strings = [], versions = [] }: DeviceAttribute): number {
  return bools.length + ints.length + strings.length + versions.length;
}

function validateAttribute(errors: FieldError[], attribute: DeviceAttribute, path: Path): void {
  const { string, version, bools, ints, strings, versions } = attribute;
  if (string !== undefined) validateText(errors, string, path.child('string'));
  if (version !== undefined) validateVersion(errors, version, path.child('version'));
  for (const [field, list] of Object.entries({ bools, ints, strings, versions }))
    if (list?.length === 0) errors.push(invalid(path.child(field), list, 'must not be empty if specified'));
  for (const [i, text] of (strings ?? []).entries()) validateText(errors, text, path.child('strings').index(i));
  for (const [i, text] of (versions ?? []).entries()) validateVersion(errors, text, path.child('versions').index(i));
  const values = Object.values(attribute).filter((value) => value !== undefined).length;
  if (values === 0) errors.push(invalid(path, '', 'exactly one value must be specified'));
  if (values > 1)
    errors.push(invalid(path, goValue(schema.struct('resource_v1.DeviceAttribute'), attribute), 'exactly one value must be specified'));
}

function validateText(errors: FieldError[], text: string, path: Path): void {
  if (byteLength(text) > maxValueBytes) errors.push(tooLong(path, '', maxValueBytes));
}

function validateVersion(errors: FieldError[], text: string, path: Path): void {
  // An overlong text is not parsed: its message would be the same.
  if (byteLength(text) <= maxValueBytes && !semanticVersion.test(text))
    errors.push(invalid(path, text, 'must be a string compatible with semver.org spec 2.0.0'));
  validateText(errors, text, path);
}

/** Shortens a long key to its beginning and end. */
function shortened(key: string, max: number): string {
  if (key.length <= max) return key;
  const left = max - 3;
  return `${key.slice(0, Math.floor((left + 1) / 2))}...${key.slice(key.length - Math.floor(left / 2))}`;
}

export function validateCounterSet(errors: FieldError[], { name, counters }: CounterSet, path: Path): void {
  validateCounters(errors, 'name', name, counters, path);
}

/** Validates a named set of counters. */
function validateCounters(
  errors: FieldError[],
  field: string,
  name: string | undefined,
  counters: CounterSet['counters'],
  path: Path,
): void {
  if (!name) errors.push(required(path.child(field)));
  else check(errors, isDNS1123Label(name), name, path, field);
  const names = Object.keys(counters ?? {});
  const place = path.child('counters');
  if (names.length === 0) errors.push(required(place));
  else if (names.length > maxCounters) errors.push(tooMany(place, names.length, maxCounters));
  else for (const counter of names) check(errors, isDNS1123Label(counter), counter, place);
}

function validateScope(errors: FieldError[], { nodeName, nodeSelector, allNodes }: Device, path: Path): void {
  const set: string[] = [];
  if (nodeName === '') errors.push(invalid(path.child('nodeName'), nodeName, 'must not be empty'));
  else if (nodeName !== undefined) {
    set.push('`nodeName`');
    check(errors, isDNS1123Subdomain(nodeName), nodeName, path, 'nodeName');
  }
  if (nodeSelector) {
    set.push('`nodeSelector`');
    validateNodeSelector(errors, nodeSelector, () => false, path.child('nodeSelector'));
  }
  if (allNodes) set.push('`allNodes`');
  else if (allNodes === false) errors.push(invalid(path.child('allNodes'), allNodes, 'must be either unset or set to true'));
  if (set.length === 0) errors.push(required(path, scopes));
  if (set.length > 1) errors.push(invalid(path, `{${set.join(', ')}}`, scopes));
}

/** Validates binding conditions and failure conditions: both or neither, and none twice. */
export function validateBindingConditions(
  errors: FieldError[],
  { bindingConditions = [], bindingFailureConditions = [] }: Pick<Device, 'bindingConditions' | 'bindingFailureConditions'>,
  path: Path,
): void {
  const lists = { bindingConditions, bindingFailureConditions };
  for (const [field, names] of Object.entries(lists))
    validateItems(errors, names, maxConditions, path.child(field), (_, name, at) => check(errors, isQualifiedName(name), name, at));
  const awaited = new Set(bindingConditions);
  for (const [field, names] of Object.entries(lists)) {
    const seen = new Set<string>();
    for (const [i, name] of names.entries()) {
      const place = path.child(field).index(i);
      if (seen.has(name)) errors.push(duplicate(place, name));
      seen.add(name);
      if (names === bindingFailureConditions && awaited.has(name))
        errors.push(invalid(place, name, 'bindingFailureConditions must not overlap with bindingConditions'));
    }
  }
  const alone = (field: string, other: string) =>
    errors.push(invalid(path.child(field), undefined, `${field} are required to use ${other}`));
  if (bindingConditions.length === 0 && bindingFailureConditions.length > 0) alone('bindingConditions', 'bindingFailureConditions');
  if (bindingFailureConditions.length === 0 && bindingConditions.length > 0) alone('bindingFailureConditions', 'bindingConditions');
}

function validateMappings(errors: FieldError[], { nodeAllocatableResourceMappings = {}, capacity = {} }: Device, path: Path): void {
  for (const name of presentKeys(nodeAllocatableResourceMappings)) {
    const { allocationMultiplier, capacityKey } = nodeAllocatableResourceMappings[name]!;
    const place = path.key(name);
    if (!isNativeResource(name)) errors.push(invalid(place, named(name), 'must be a node allocatable resource name'));
    if (allocationMultiplier === undefined && capacityKey === undefined)
      errors.push(invalid(place, '', 'at least one of allocationMultiplier or capacityKey must be set'));
    if (allocationMultiplier !== undefined && compareAmounts(allocationMultiplier, '0') <= 0)
      errors.push(invalid(place.child('allocationMultiplier'), allocationMultiplier, 'must be positive'));
    if (capacityKey === '') errors.push(invalid(place.child('capacityKey'), '', 'capacityKey must not be an empty string'));
    else if (capacityKey !== undefined && !Object.hasOwn(capacity, capacityKey))
      errors.push(notFound(place.child('capacityKey'), capacityKey));
    stopIfTooMany(errors);
  }
}
