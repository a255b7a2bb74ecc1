import type { HPAScalingRules, HorizontalPodAutoscalerBehavior } from 'kubenest/types/autoscaling_v2';

/**
 * Time in which a lower recommendation does not count unless all are lower. Upstream: --horizontal-pod-autoscaler-downscale-stabilization.
 */
const downscaleWindowMs = 5 * 60_000;

interface Recommendation {
  readonly replicas: number;
  readonly at: number;
}

interface ScaleEvent {
  readonly change: number;
  readonly at: number;
}

/** Earlier recommendations and changes of an autoscaler. */
export interface ScalingHistory {
  recommendations: Recommendation[];
  ups: ScaleEvent[];
  downs: ScaleEvent[];
}

export interface LimitInput {
  readonly current: number;
  readonly desired: number;
  readonly min: number;
  readonly max: number;
  readonly behavior: HorizontalPodAutoscalerBehavior | undefined;
}

export interface Report {
  readonly reason: string;
  readonly message: string;
}

export interface Limited {
  readonly replicas: number;
  /** Report of the condition AbleToScale. */
  readonly able: Report;
  /** Report of the condition ScalingLimited, and its status. */
  readonly limited: Report & { readonly isLimited: boolean };
}

const reports = {
  ready: { reason: 'ReadyForNewScale', message: 'recommended size matches current size' },
  up: {
    reason: 'ScaleUpStabilized',
    message: 'recent recommendations were lower than current one, applying the lowest recent recommendation',
  },
  down: {
    reason: 'ScaleDownStabilized',
    message: 'recent recommendations were higher than current one, applying the highest recent recommendation',
  },
  within: { reason: 'DesiredWithinRange', message: 'the desired count is within the acceptable range' },
  upLimit: { reason: 'ScaleUpLimit', message: 'the desired replica count is increasing faster than the maximum scale rate' },
  downLimit: { reason: 'ScaleDownLimit', message: 'the desired replica count is decreasing faster than the maximum scale rate' },
  many: { reason: 'TooManyReplicas', message: 'the desired replica count is more than the maximum replica count' },
  few: { reason: 'TooFewReplicas', message: 'the desired replica count is less than the minimum replica count' },
} as const satisfies Record<string, Report>;

function windowOf(rules: HPAScalingRules | undefined, defaultMs: number): number {
  return rules?.stabilizationWindowSeconds === undefined ? defaultMs : rules.stabilizationWindowSeconds * 1_000;
}

/** Returns the recommendation that holds over the windows, and notes the new one. Upstream: stabilizeRecommendationWithBehaviors. */
function stabilize({ current, desired, behavior }: LimitInput, history: ScalingHistory, nowMs: number): number {
  const upMs = behavior ? windowOf(behavior.scaleUp, 0) : 0;
  const downMs = windowOf(behavior?.scaleDown, downscaleWindowMs);
  const recent = (windowMs: number): number[] =>
    history.recommendations.filter(({ at }) => at > nowMs - windowMs).map(({ replicas }) => replicas);
  const lowest = Math.min(desired, ...recent(upMs));
  const highest = Math.max(desired, ...recent(downMs));
  history.recommendations = history.recommendations.filter(({ at }) => at >= nowMs - Math.max(upMs, downMs));
  history.recommendations.push({ replicas: desired, at: nowMs });
  return behavior ? Math.min(Math.max(current, lowest), highest) : highest;
}

/** Returns the number of replicas that a policy permits. */
function limitOf(direction: 1 | -1, current: number, rules: HPAScalingRules, { ups, downs }: ScalingHistory, nowMs: number): number {
  if (rules.selectPolicy === 'Disabled') return current;
  const proposals = (rules.policies ?? []).map(({ type, value = 0, periodSeconds = 0 }) => {
    const change = (events: readonly ScaleEvent[]): number =>
      events.filter(({ at }) => at > nowMs - periodSeconds * 1_000).reduce((sum, event) => sum + event.change, 0);
    const before = current - change(ups) + change(downs);
    if (type === 'Pods') return before + direction * value;
    return direction > 0 ? Math.ceil(before * (1 + value / 100)) : Math.trunc(before * (1 - value / 100));
  });
  const isSmallest = rules.selectPolicy === 'Min';
  return isSmallest === direction > 0 ? Math.min(...proposals) : Math.max(...proposals);
}

/** Returns the replicas within the limits of the rates and of the spec. Upstream: convertDesiredReplicasWithBehaviorRate and …WithRules. */
function limitRate(input: LimitInput, history: ScalingHistory, nowMs: number): { readonly replicas: number; readonly report: Report } {
  const { current, desired, min, max, behavior } = input;
  if (!behavior) {
    const fastest = Math.max(2 * current, 4);
    if (desired < min) return { replicas: min, report: reports.few };
    if (desired > Math.min(max, fastest))
      return { replicas: Math.min(max, fastest), report: max > fastest ? reports.upLimit : reports.many };
  } else if (desired > current) {
    const fastest = Math.max(current, limitOf(1, current, behavior.scaleUp ?? {}, history, nowMs));
    if (desired > Math.min(max, fastest))
      return { replicas: Math.min(max, fastest), report: max > fastest ? reports.upLimit : reports.many };
  } else if (desired < current) {
    const fastest = Math.min(current, limitOf(-1, current, behavior.scaleDown ?? {}, history, nowMs));
    if (desired < Math.max(min, fastest))
      return { replicas: Math.max(min, fastest), report: min < fastest ? reports.downLimit : reports.few };
  }
  return { replicas: desired, report: reports.within };
}

/** Returns the number of replicas after stabilization and limits. */
export function limit(input: LimitInput, history: ScalingHistory, nowMs: number): Limited {
  const stabilized = stabilize(input, history, nowMs);
  const direction = input.behavior && input.desired >= input.current ? reports.up : reports.down;
  const { replicas, report } = limitRate({ ...input, desired: stabilized }, history, nowMs);
  return {
    replicas,
    able: stabilized === input.desired ? reports.ready : direction,
    limited: { ...report, isLimited: replicas !== stabilized },
  };
}

/** Notes a change for the rates of the policies, and forgets those that no policy uses. */
export function noteChange(
  behavior: HorizontalPodAutoscalerBehavior | undefined,
  history: ScalingHistory,
  change: number,
  nowMs: number,
): void {
  if (!behavior) return;
  const rules = change > 0 ? behavior.scaleUp : behavior.scaleDown;
  const longest = Math.max(0, ...(rules?.policies ?? []).map(({ periodSeconds = 0 }) => periodSeconds * 1_000));
  const list = change > 0 ? 'ups' : 'downs';
  history[list] = [...history[list].filter(({ at }) => at >= nowMs - longest), { change: Math.abs(change), at: nowMs }];
}
