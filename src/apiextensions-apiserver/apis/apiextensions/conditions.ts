import type {
  CustomResourceDefinition,
  CustomResourceDefinitionCondition,
  CustomResourceDefinitionStatus,
} from '#apiextensions-apiserver/schema/apiextensions_v1.gen';

export type ConditionType =
  | 'Established'
  | 'NamesAccepted'
  | 'NonStructuralSchema'
  | 'Terminating'
  | 'KubernetesAPIApprovalPolicyConformant';

export interface Condition {
  readonly type: ConditionType;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

export function findCondition(definition: CustomResourceDefinition, type: ConditionType): CustomResourceDefinitionCondition | undefined {
  return definition.status?.conditions?.find((condition) => condition.type === type);
}

export function isConditionTrue(definition: CustomResourceDefinition, type: ConditionType): boolean {
  return findCondition(definition, type)?.status === 'True';
}

/** True if the condition has the wanted status, reason and message. */
export function isConditionEquivalent(present: CustomResourceDefinitionCondition | undefined, wanted: Condition): boolean {
  return present?.status === wanted.status && present.reason === wanted.reason && present.message === wanted.message;
}

/**
 * Sets a condition in place. Its transition time changes only with its status. `now` is RFC 3339 in whole seconds. Upstream:
 * apiextensions-apiserver/pkg/apihelpers/helpers.go (SetCRDCondition).
 */
export function setCondition(status: CustomResourceDefinitionStatus, condition: Condition, now: string): void {
  const conditions = [...(status.conditions ?? [])];
  const at = conditions.findIndex(({ type }) => type === condition.type);
  const present = conditions[at];
  const lastTransitionTime = present?.status === condition.status && present.lastTransitionTime ? present.lastTransitionTime : now;
  const next = { ...present, ...condition, lastTransitionTime };
  if (at < 0) conditions.push(next);
  else conditions[at] = next;
  status.conditions = conditions;
}

export function removeCondition(status: CustomResourceDefinitionStatus, type: ConditionType): void {
  status.conditions = (status.conditions ?? []).filter((condition) => condition.type !== type);
}
