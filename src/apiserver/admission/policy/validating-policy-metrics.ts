import type { CounterMetric, HistogramMetric, Metrics } from '#apiserver/server/metrics/metrics';
import type { PolicyBinding, Policy } from './policy-types.ts';
import type { PolicyDecision } from './validating-policy.ts';

export type EnforcementAction = 'allow' | 'deny' | 'audit' | 'warn';

const labels = ['policy', 'policy_binding', 'error_type', 'enforcement_action'];
const prefix = 'apiserver_validating_admission_policy_';

/** What policies did with requests. Upstream: apiserver/pkg/admission/plugin/policy/validating/metrics/metrics.go. */
export class ValidatingPolicyMetrics {
  readonly #checks: CounterMetric;
  readonly #durations: HistogramMetric;

  constructor(metrics: Metrics) {
    this.#checks = metrics.counter({
      name: `${prefix}check_total`,
      help: '[BETA] Validation admission policy check total, labeled by policy and further identified by binding and enforcement action taken.',
      labels,
    });
    this.#durations = metrics.histogram({
      name: `${prefix}check_duration_seconds`,
      help: '[BETA] Validation admission latency for individual validation expressions in seconds, labeled by policy and further including binding and enforcement action taken.',
      labels,
      buckets: [0.0000005, 0.001, 0.01, 0.1, 1],
    });
  }

  /** Of a validation that is not met, or of which nobody knows (`allow`: and nobody minds). */
  observe(policy: Policy, binding: PolicyBinding, decision: Pick<PolicyDecision, 'message' | 'seconds'>, action: EnforcementAction): void {
    const values = {
      policy: policy.metadata.name ?? '',
      policy_binding: binding.metadata.name ?? '',
      error_type: errorType(decision.message),
      enforcement_action: action,
    };
    this.#checks.inc(values);
    this.#durations.observe(values, decision.seconds);
  }
}

/** Upstream tells it by the message, and has no other word for a validation that is simply not met. */
function errorType(message: string): string {
  if (message.startsWith('compilation')) return 'compile_error';
  return message.startsWith('validation failed due to running out of cost budget') ? 'out_of_budget' : 'invalid_error';
}
