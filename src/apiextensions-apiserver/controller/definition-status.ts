import { deepCopy } from '#apimachinery/runtime/copy';
import { deepEqual } from '#apimachinery/runtime/equality';
import type { Steps } from '#apimachinery/runtime/steps';
import type { JsonSchemaProps } from '#apimachinery/structural/json-schema-props';
import { newStructural, StructuralError } from '#apimachinery/structural/structural';
import { validateStructuralSteps } from '#apimachinery/structural/validate-structural';
import { addErrors, aggregate, type FieldError, fieldPath, invalid } from '#apimachinery/validation/field';
import { validateCABundle } from '#apimachinery/validation/webhook';
import type { CustomResourceDefinition, CustomResourceDefinitionStatus } from '#apiextensions-apiserver/schema/apiextensions_v1.gen';
import { approvalCondition } from '../apis/apiextensions/api-approval.ts';
import {
  type Condition,
  findCondition,
  isConditionEquivalent,
  isConditionTrue,
  removeCondition,
  setCondition,
} from '../apis/apiextensions/conditions.ts';
import { acceptNames, namesAreAccepted } from './naming.ts';

const established: Condition = {
  type: 'Established',
  status: 'True',
  reason: 'InitialNamesAccepted',
  message: 'the initial names have been accepted',
};
const notAccepted: Condition = { type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' };
const invalidCABundle: Condition = {
  type: 'Established',
  status: 'False',
  reason: 'InvalidCABundle',
  message: 'The conversion webhook CABundle is invalid',
};

/**
 * Returns the status of a definition with its names and conditions; undefined if it is up to date. `group` has all definitions of its
 * group, `nonStructural` is the result of `nonStructuralCondition`. Upstream's controllers for naming, establishing, non-structural schemas
 * and API approval write the same in several updates.
 */
export function definitionStatus(
  crd: CustomResourceDefinition,
  group: Iterable<CustomResourceDefinition>,
  nonStructural: Condition | undefined,
  now: string,
): CustomResourceDefinitionStatus | undefined {
  const next: CustomResourceDefinition = { ...crd, status: deepCopy(crd.status ?? {}) };
  const status = next.status as CustomResourceDefinitionStatus;
  if (!namesAreAccepted(crd)) name(next, group, now);
  if (isConditionTrue(next, 'NamesAccepted') && !isConditionTrue(next, 'Established'))
    update(next, hasInvalidCABundle(crd) ? invalidCABundle : established, now);
  if (nonStructural) update(next, nonStructural, now);
  else if (findCondition(next, 'NonStructuralSchema')) removeCondition(status, 'NonStructuralSchema');
  const approval = approvalCondition(crd.spec?.group ?? '', crd.metadata.annotations);
  if (approval) update(next, approval as Condition, now);
  return deepEqual(status, crd.status ?? {}) ? undefined : status;
}

function name(next: CustomResourceDefinition, group: Iterable<CustomResourceDefinition>, now: string): void {
  const status = next.status as CustomResourceDefinitionStatus;
  const { acceptedNames, condition } = acceptNames(next, group);
  status.acceptedNames = acceptedNames;
  update(next, condition, now);
  if (!findCondition(next, 'Established') && condition.status !== 'True') setCondition(status, notAccepted, now);
}

function update(next: CustomResourceDefinition, condition: Condition, now: string): void {
  if (!isConditionEquivalent(findCondition(next, condition.type), condition))
    setCondition(next.status as CustomResourceDefinitionStatus, condition, now);
}

function hasInvalidCABundle({ spec }: CustomResourceDefinition): boolean {
  return validateCABundle(fieldPath('caBundle'), spec?.conversion?.webhook?.clientConfig?.caBundle).length > 0;
}

/**
 * Computes the condition NonStructuralSchema of a definition, yielding between schemas; undefined if all schemas are structural. Upstream:
 * controller/nonstructuralschema (calculateCondition).
 */
export function* nonStructuralCondition({ spec }: CustomResourceDefinition): Steps<Condition | undefined> {
  const errors: FieldError[] = [];
  if (spec?.preserveUnknownFields) errors.push(invalid(fieldPath('spec', 'preserveUnknownFields'), true, 'must be false'));
  for (const [i, { schema, name: version }] of (spec?.versions ?? []).entries()) {
    if (!schema?.openAPIV3Schema) continue;
    const path = fieldPath('spec', 'versions').index(i).child('schema', 'openAPIV3Schema');
    try {
      const structural = newStructural(schema.openAPIV3Schema as JsonSchemaProps);
      yield;
      addErrors(errors, yield* validateStructuralSteps(path, structural));
    } catch (error) {
      if (!(error instanceof StructuralError)) throw error;
      const message = `failed to check validation schema for version ${version}: ${error.message}`;
      return { type: 'NonStructuralSchema', status: 'Unknown', reason: 'StructuralError', message };
    }
  }
  if (errors.length === 0) return undefined;
  return { type: 'NonStructuralSchema', status: 'True', reason: 'Violations', message: aggregate(errors) };
}
