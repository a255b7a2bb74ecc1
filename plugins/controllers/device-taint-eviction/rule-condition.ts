import type { DeviceTaintRule } from 'kubenest/types/resource_v1alpha3';

/** Numbers that the condition of a rule reports. */
export interface RuleCounts {
  readonly pods: number;
  readonly namespaces: number;
  /** Devices in slices and in allocations that the rule selects. Only reported for a rule without effect. */
  readonly published: number;
  readonly allocated: number;
  /** Pods evicted because of the rule since the controller started. */
  readonly evicted: number;
}

/** The condition EvictionInProgress without its times. */
export interface RuleCondition {
  readonly type: 'EvictionInProgress';
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

const count = (amount: number, one: string, many: string): string => (amount === 1 ? `1 ${one}` : `${amount} ${many}`);

/** Returns the condition in upstream's words. Upstream: pkg/controller/devicetainteviction (maybeUpdateRuleStatus). */
export function ruleCondition({ spec }: DeviceTaintRule, counts: RuleCounts): RuleCondition {
  const { evicted } = counts;
  const { message, ...state } = stateOf(spec?.taint?.effect, counts);
  const sum = evicted > 0 ? `${count(evicted, 'pod', 'pods')} evicted since starting the controller.` : '';
  return { type: 'EvictionInProgress', status: 'False', ...state, message: [message, sum].filter(Boolean).join(' ') };
}

function stateOf(
  effect: string | undefined,
  { pods, namespaces, published, allocated, evicted }: RuleCounts,
): Partial<RuleCondition> & Pick<RuleCondition, 'reason' | 'message'> {
  if (effect === 'NoExecute') {
    if (pods === 0) return { reason: evicted > 0 ? 'Completed' : 'NotStarted', message: '' };
    const places = count(namespaces, 'namespace', 'different namespaces');
    const message = `${count(pods, 'pod needs', 'pods need')} to be evicted in ${places}.`;
    return { status: 'True', reason: 'PodsPendingEviction', message };
  }
  if (effect !== 'None') return { reason: 'OtherEffect', message: 'Eviction only happens for the NoExecute effect.' };
  const message = [
    `${count(published, 'published device', 'published devices')} selected.`,
    `${count(allocated, 'allocated device', 'allocated devices')} selected.`,
    `${count(pods, 'pod', 'pods')} would be evicted in ${count(namespaces, 'namespace', 'different namespaces')}`,
    'if the effect was NoExecute. This information will not be updated again. Recreate the DeviceTaintRule to trigger an update.',
  ].join(' ');
  return { reason: 'NoEffect', message };
}
