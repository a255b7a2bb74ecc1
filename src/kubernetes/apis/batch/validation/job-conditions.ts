import type { Job } from '#kubernetes/schema/batch_v1.gen';

type JobConditionType = 'Complete' | 'Failed' | 'FailureTarget' | 'SuccessCriteriaMet' | 'Suspended';

/** True if the job has a condition of this type and status. */
export function hasCondition({ status }: Job, type: JobConditionType, value: 'True' | 'False' = 'True'): boolean {
  const conditions = status?.conditions;
  if (!conditions) return false;
  for (const condition of conditions) if (condition.type === type && condition.status === value) return true;
  return false;
}

export function isFinished(job: Job): boolean {
  return hasCondition(job, 'Complete') || hasCondition(job, 'Failed');
}
