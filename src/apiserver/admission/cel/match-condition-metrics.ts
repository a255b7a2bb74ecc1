import type { CounterMetric, HistogramMetric, Metrics } from '#apiserver/base/metrics/metrics';
import type { ConditionOutcome } from './match-conditions.ts';

const labels = ['name', 'kind', 'type', 'operation'];

/** Metrics of the `matchConditions` of webhooks or policies. Upstream: apiserver/pkg/admission/metrics/metrics.go. */
export class MatchConditionMetrics {
  readonly #errors: CounterMetric;
  readonly #exclusions: CounterMetric;
  readonly #seconds: HistogramMetric;

  constructor(
    metrics: Metrics,
    readonly kind: 'webhook' | 'policy',
    readonly type: 'admit' | 'validate' | 'validating',
  ) {
    this.#errors = metrics.counter({
      name: 'apiserver_admission_match_condition_evaluation_errors_total',
      help: 'Admission match condition evaluation errors count, identified by name of resource containing the match condition and broken out for each kind containing matchConditions (webhook or policy), operation and admission type (validate or admit).',
      labels,
    });
    this.#exclusions = metrics.counter({
      name: 'apiserver_admission_match_condition_exclusions_total',
      help: 'Admission match condition evaluation exclusions count, identified by name of resource containing the match condition and broken out for each kind containing matchConditions (webhook or policy), operation and admission type (validate or admit).',
      labels,
    });
    this.#seconds = metrics.histogram({
      name: 'apiserver_admission_match_condition_evaluation_seconds',
      help: 'Admission match condition evaluation time in seconds, identified by name and broken out for each kind containing matchConditions (webhook or policy), operation and type (validate or admit).',
      labels,
      buckets: [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25],
    });
  }

  /**
   * Records an evaluation; `name` is that of the webhook or policy. As upstream, durations of conditions that all hold are not
   * recorded.
   */
  observe(name: string, operation: string, { match, failures, seconds }: ConditionOutcome): void {
    const series = { name, kind: this.kind, type: this.type, operation };
    if (failures > 0) this.#errors.inc(series, failures);
    if (match !== true) this.#seconds.observe(series, seconds);
  }

  /**
   * Counts a webhook that its conditions excluded. As upstream, validating webhooks have the type `validate` here and another in
   * other metrics.
   */
  excluded(name: string, operation: string): void {
    this.#exclusions.inc({ name, kind: this.kind, type: this.type === 'admit' ? 'admit' : 'validate', operation });
  }
}
