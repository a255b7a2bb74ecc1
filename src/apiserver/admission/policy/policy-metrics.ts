import { MatchConditionMetrics } from '#apiserver/admission/cel/match-condition-metrics';
import type { CounterMetric, HistogramMetric, Metrics } from '#apiserver/base/metrics/metrics';
import type { Policy, PolicyBinding } from './policy-types.ts';

export type EnforcementAction = 'allow' | 'deny' | 'audit' | 'warn';

/** An evaluated expression; `message` is the reason of its failure. */
interface Check {
  readonly message?: string;
  readonly seconds: number;
}

type Sort = 'validating' | 'mutating';

const labels = ['policy', 'policy_binding', 'error_type'];
const buckets = [0.0000005, 0.001, 0.01, 0.1, 1];
const descriptions: Readonly<Record<Sort, { readonly check: string; readonly duration: string }>> = {
  validating: {
    check: 'Validation admission policy check total, labeled by policy and further identified by binding and enforcement action taken.',
    duration:
      'Validation admission latency for individual validation expressions in seconds, labeled by policy and further including binding and enforcement action taken.',
  },
  mutating: {
    check: 'Mutation admission policy check total, labeled by policy and further identified by binding.',
    duration: 'Mutation admission latency for individual mutation expressions in seconds, labeled by policy and binding.',
  },
};

/**
 * Metrics of validating or mutating policies. Upstream:
 * apiserver/pkg/admission/plugin/policy/{validating,mutating}/metrics/metrics.go.
 */
export class PolicyMetrics {
  readonly conditions: MatchConditionMetrics;
  readonly #checks: CounterMetric;
  readonly #durations: HistogramMetric;

  constructor(metrics: Metrics, sort: Sort) {
    const isValidating = sort === 'validating';
    const prefix = `apiserver_${sort}_admission_policy_check_`;
    const { check, duration } = descriptions[sort];
    const labelNames = isValidating ? [...labels, 'enforcement_action'] : labels;
    // Upstream uses the same type for both kinds of policies.
    this.conditions = new MatchConditionMetrics(metrics, 'policy', 'validate');
    this.#checks = metrics.counter({ name: `${prefix}total`, help: check, labels: labelNames });
    this.#durations = metrics.histogram({ name: `${prefix}duration_seconds`, help: duration, labels: labelNames, buckets });
  }

  /**
   * Records a mutation, or a validation that does not hold or failed, with its enforcement action (`allow` for a failure that the
   * policy ignores).
   */
  observe(policy: Policy, binding: PolicyBinding, { message, seconds }: Check, action?: EnforcementAction): void {
    const values = {
      policy: policy.metadata.name ?? '',
      policy_binding: binding.metadata.name ?? '',
      error_type: message === undefined ? 'no_error' : errorType(message),
      ...(action && { enforcement_action: action }),
    };
    this.#checks.inc(values);
    this.#durations.observe(values, seconds);
  }
}

/** Derives the error type from the message, as upstream does; a validation that does not hold has the type of an invalid one. */
function errorType(message: string): string {
  if (message.startsWith('compilation')) return 'compile_error';
  return message.startsWith('validation failed due to running out of cost budget') ? 'out_of_budget' : 'invalid_error';
}
