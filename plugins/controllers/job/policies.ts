import type {
  PodFailurePolicy,
  PodFailurePolicyOnExitCodesRequirement,
  PodFailurePolicyRule,
  SuccessPolicy,
} from 'kubenest/types/batch_v1';
import type { ContainerStatus, Pod } from 'kubenest/types/core_v1';
import { IndexSet } from './index-set.ts';

/** Consequence of a pod's failure. */
export interface FailureMatch {
  /** Action of the rule that matches; undefined if none does. */
  readonly action?: string;
  /** True if the failure counts towards the backoff limits. */
  readonly isCounted: boolean;
  /** Message of the job's failure; only for the action FailJob. */
  readonly message?: string;
}

const counted: FailureMatch = { isCounted: true };

/** Returns the consequence of the first rule that matches a failed pod. Upstream: pkg/controller/job/pod_failure_policy.go. */
export function matchFailurePolicy(policy: PodFailurePolicy | undefined, pod: Pod): FailureMatch {
  for (const [index, rule] of policy?.rules?.entries() ?? []) {
    const found = describeMatch(rule, pod);
    if (found === undefined) continue;
    const { action = '' } = rule;
    if (action === 'Ignore') return { action, isCounted: false };
    if (action !== 'FailJob') return { action, isCounted: true };
    return { action, isCounted: true, message: `${found} matching ${action} rule at index ${index}` };
  }
  return counted;
}

/** Returns what matched, as the start of a message; undefined if the rule does not match. */
function describeMatch({ onExitCodes, onPodConditions }: PodFailurePolicyRule, { metadata, status }: Pod): string | undefined {
  const pod = `${metadata.namespace}/${metadata.name}`;
  if (onExitCodes) {
    const statuses = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
    const container = statuses.find((candidate) => matchesExitCode(candidate, onExitCodes));
    return container && `Container ${container.name} for pod ${pod} failed with exit code ${container.state?.terminated?.exitCode}`;
  }
  const condition = status?.conditions?.find(({ type, status: state }) =>
    onPodConditions?.some((pattern) => pattern.type === type && pattern.status === state),
  );
  return condition && `Pod ${pod} has condition ${condition.type}`;
}

function matchesExitCode(
  { name, state }: ContainerStatus,
  { containerName, operator, values = [] }: PodFailurePolicyOnExitCodesRequirement,
): boolean {
  const { exitCode = 0 } = state?.terminated ?? {};
  if (exitCode === 0 || (containerName !== undefined && containerName !== name)) return false;
  return values.includes(exitCode) === (operator === 'In');
}

/**
 * Returns the message of the first rule that the succeeded indexes satisfy; undefined if none. Upstream:
 * pkg/controller/job/success_policy.go.
 */
export function matchSuccessPolicy(policy: SuccessPolicy | undefined, completions: number, succeeded: IndexSet): string | undefined {
  if (succeeded.size === 0) return undefined;
  for (const [index, { succeededIndexes, succeededCount }] of policy?.rules?.entries() ?? []) {
    const required = succeededIndexes === undefined ? undefined : IndexSet.parse(succeededIndexes, completions);
    if (required?.size === 0) continue;
    const reached = required ? succeeded.overlap(required) : succeeded.size;
    const isMet = (required !== undefined && reached === required.size) || (succeededCount !== undefined && reached >= succeededCount);
    if (isMet) return `Matched rules at index ${index}`;
  }
  return undefined;
}
