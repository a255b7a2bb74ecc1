/** Fields that the conditions of the workload kinds share. */
export interface Condition {
  type?: string;
  status?: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
}

export function findCondition<T extends Condition>(conditions: readonly T[] | undefined, type: string): T | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/**
 * Returns the conditions with the given one as the last, in place of that of its type, which gives its lastTransitionTime if it has the
 * same status. A condition with the same status and reason stays as it is. Upstream: SetReplicaSetCondition and SetDeploymentCondition.
 */
export function withCondition<T extends Condition>(conditions: readonly T[] = [], condition: T): T[] {
  const present = findCondition(conditions, condition.type as string);
  if (present && present.status === condition.status && present.reason === condition.reason) return [...conditions];
  const kept =
    present?.status === condition.status && present?.lastTransitionTime ? { lastTransitionTime: present.lastTransitionTime } : {};
  return [...withoutCondition(conditions, condition.type as string), { ...condition, ...kept }];
}

export function withoutCondition<T extends Condition>(conditions: readonly T[] = [], type: string): T[] {
  return conditions.filter((condition) => condition.type !== type);
}
