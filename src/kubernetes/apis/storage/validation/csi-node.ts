/** Validation of CSI nodes. Upstream: pkg/apis/storage/validation/validation.go. */
import { semanticDeepEqual } from '#apimachinery/runtime/semantic-equality';
import { addErrors, type FieldError, type Path, duplicate, fieldPath, invalid, required } from '#apimachinery/validation/field';
import { isQualifiedName, nameIsDNSSubdomain } from '#apimachinery/validation/names';
import { fieldImmutableError } from '#apimachinery/validation/object-meta';
import { byteLength, check, validateNonnegative } from '#kubernetes/apis/core/validation/checks';
import { validateMetaAgain } from '#kubernetes/apis/core/validation/object-meta';
import { validateCsiDriverName } from '#kubernetes/apis/core/validation/volume-sources';
import { structValue } from '#kubernetes/apis/struct-value';
import type { CSINode, CSINodeDriver } from '#kubernetes/schema/storage_v1.gen';

const driversPath = fieldPath('spec', 'drivers');
const maxNodeIDLength = 256;

export function validateCSINode({ spec }: CSINode): FieldError[] {
  const errors: FieldError[] = [];
  const names = new Set<string>();
  for (const [i, driver] of (spec?.drivers ?? []).entries()) validateDriver(errors, driver, names, driversPath.index(i));
  return errors;
}

/** Validates that drivers do not change, except for their allocatable volumes. */
export function validateCSINodeUpdate(node: CSINode, old: CSINode): FieldError[] {
  const errors: FieldError[] = [];
  validateMetaAgain(errors, node.metadata, nameIsDNSSubdomain, false);
  addErrors(errors, validateCSINode(node));
  for (const { allocatable: _, ...before } of old.spec?.drivers ?? []) {
    for (const { allocatable: __, ...driver } of node.spec?.drivers ?? []) {
      if (driver.name !== before.name || semanticDeepEqual(driver, before)) continue;
      const { name = '', nodeID = '', topologyKeys } = driver;
      errors.push(
        invalid(
          driversPath,
          structValue({ Name: name, NodeID: nodeID, TopologyKeys: topologyKeys, Allocatable: null }),
          fieldImmutableError,
        ),
      );
    }
  }
  return errors;
}

function validateDriver(
  errors: FieldError[],
  { name = '', nodeID = '', allocatable, topologyKeys = [] }: CSINodeDriver,
  names: Set<string>,
  path: Path,
): void {
  validateCsiDriverName(errors, name, path.child('name'));
  if (nodeID === '') errors.push(required(path.child('nodeID')));
  if (byteLength(nodeID) > maxNodeIDLength)
    errors.push(invalid(path.child('nodeID'), nodeID, `must be ${maxNodeIDLength} characters or less`));
  if (allocatable) validateNonnegative(errors, allocatable.count, path.child('allocatable'), 'count');
  if (names.has(name)) errors.push(duplicate(path.child('name'), name));
  names.add(name);
  const keys = new Set<string>();
  for (const key of topologyKeys) {
    if (key === '') errors.push(required(path));
    if (keys.has(key)) errors.push(duplicate(path, key));
    keys.add(key);
    check(errors, isQualifiedName(key), key, path);
  }
}
