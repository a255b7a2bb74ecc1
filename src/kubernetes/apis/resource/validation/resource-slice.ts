/** Validation of resource slices. Upstream: pkg/apis/resource/validation/validation.go. */
import { semanticDeepEqual } from '#apimachinery/runtime/semantic-equality';
import { keysOf } from '#apimachinery/runtime/wide-objects';
import { type FieldError, fieldPath, invalid, type Path, required } from '#apimachinery/validation/field';
import { isDNS1123Subdomain } from '#apimachinery/validation/names';
import { fieldImmutableError } from '#apimachinery/validation/object-meta';
import { validateNodeSelector } from '#kubernetes/apis/core/validation/affinity';
import { check } from '#kubernetes/apis/core/validation/checks';
import { internalValue } from '#kubernetes/apis/core/validation/internal';
import { hasListAttribute } from '#kubernetes/apis/resource/device-attributes';
import type { Device, ResourceSlice, ResourceSliceSpec } from '#kubernetes/schema/resource_v1.gen';
import { validateCounterSet, validateDevice } from './device.ts';
import { validateDistinctItems, validateDriverName, validatePoolName } from './device-names.ts';

const path = fieldPath('spec');
const maxDevices = 128;
/** Limit for slices whose devices have taints, consume counters or have list attributes. */
const maxAdvancedDevices = 64;
const maxCounterSets = 8;
const scopes = 'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required';

export function validateResourceSlice({ spec = {} }: ResourceSlice): FieldError[] {
  return validateSpec(spec, undefined);
}

export function validateResourceSliceUpdate({ spec = {} }: ResourceSlice, { spec: old = {} }: ResourceSlice): FieldError[] {
  return validateSpec(spec, old);
}

function validateSpec(spec: ResourceSliceSpec, old: ResourceSliceSpec | undefined): FieldError[] {
  const errors: FieldError[] = [];
  validateDriverName(errors, spec.driver, path.child('driver'));
  validatePool(errors, spec);
  if (old) {
    const keep = (value: string | null, before: string | null, place: Path) => {
      if (value !== before) errors.push(invalid(place, value, fieldImmutableError));
    };
    keep(spec.pool?.name ?? '', old.pool?.name ?? '', path.child('pool', 'name'));
    keep(spec.driver ?? '', old.driver ?? '', path.child('driver'));
    keep(spec.nodeName ?? null, old.nodeName ?? null, path.child('nodeName'));
  }
  validateScope(errors, spec);
  if (spec.sharedCounters && spec.devices) errors.push(invalid(path, '', 'only one of `sharedCounters` or `devices` is allowed'));
  const before = new Map((old?.devices ?? []).map((device) => [device.name, device]));
  const nameOf = ({ name = '' }: { name?: string }) => name;
  const most = (spec.devices ?? []).some(isAdvanced) ? maxAdvancedDevices : maxDevices;
  validateDistinctItems(errors, spec.devices, most, path.child('devices'), nameOf, (_, device, at) => {
    const areTaintsKept = before.has(device.name) && semanticDeepEqual(before.get(device.name)?.taints, device.taints);
    validateDevice(errors, device, at, spec.perDeviceNodeSelection === true, areTaintsKept);
  });
  validateDistinctItems(errors, spec.sharedCounters, maxCounterSets, path.child('sharedCounters'), nameOf, validateCounterSet);
  return errors;
}

function validatePool(errors: FieldError[], { pool = {} }: ResourceSliceSpec): void {
  const { name, generation = 0, resourceSliceCount = 0 } = pool;
  validatePoolName(errors, name, path.child('pool', 'name'));
  if (resourceSliceCount <= 0)
    errors.push(invalid(path.child('pool', 'resourceSliceCount'), resourceSliceCount, 'must be greater than zero'));
  if (generation < 0) errors.push(invalid(path.child('pool', 'generation'), generation, 'must be greater than or equal to zero'));
}

/** Validates that exactly one scope is set: a node, a node selector, all nodes, or per device. */
function validateScope(errors: FieldError[], { nodeName, nodeSelector, allNodes, perDeviceNodeSelection }: ResourceSliceSpec): void {
  const set: string[] = [];
  if (nodeName === '') errors.push(invalid(path.child('nodeName'), nodeName, 'must be either unset or set to a non-empty string'));
  else if (nodeName !== undefined) {
    set.push('`nodeName`');
    check(errors, isDNS1123Subdomain(nodeName), nodeName, path, 'nodeName');
  }
  if (nodeSelector) {
    set.push('`nodeSelector`');
    validateNodeSelector(errors, nodeSelector, () => false, path.child('nodeSelector'));
    const { nodeSelectorTerms = [] } = nodeSelector;
    if (nodeSelectorTerms.length !== 1)
      errors.push(
        invalid(
          path.child('nodeSelector', 'nodeSelectorTerms'),
          internalValue('[]NodeSelectorTerm', nodeSelector.nodeSelectorTerms),
          'must have exactly one node selector term',
        ),
      );
  }
  for (const [field, value] of Object.entries({ allNodes, perDeviceNodeSelection })) {
    if (value) set.push(`\`${field}\``);
    else if (value === false) errors.push(invalid(path.child(field), value, 'must be either unset or set to true'));
  }
  if (set.length === 0) errors.push(required(path, scopes));
  if (set.length > 1) errors.push(invalid(path, `{${set.join(', ')}}`, `${scopes}, but multiple fields are set`));
}

function isAdvanced({ taints, consumesCounters, attributes = {} }: Device): boolean {
  if (taints?.length || consumesCounters?.length) return true;
  return keysOf(attributes).some((key) => hasListAttribute(attributes[key]));
}
