import {
  type Attributes,
  type Authorizer,
  AuthorizerValue,
  type CounterMetric,
  type HistogramMetric,
  type Logger,
  MatchConditions,
  type Metrics,
  newForbidden,
  settled,
  VisibleObjects,
} from 'kubenest/sdk';
import type { Hook, Invocation } from './hook.ts';

const labels = ['name', 'kind', 'type', 'operation'];

/** Asks the conditions of webhooks. Upstream: plugin/webhook/matchconditions/matcher.go, metrics of apiserver/pkg/admission/metrics. */
export class ConditionMatcher {
  readonly #type: string;
  readonly #authorizer: Authorizer;
  readonly #logger: Logger;
  /** Compiled when they are first asked; a changed configuration brings other hooks. */
  readonly #compiled = new WeakMap<Hook, MatchConditions>();
  readonly #errors: CounterMetric;
  readonly #exclusions: CounterMetric;
  readonly #seconds: HistogramMetric;

  constructor(type: string, authorizer: Authorizer, metrics: Metrics, logger: Logger) {
    this.#type = type;
    this.#authorizer = authorizer;
    this.#logger = logger;
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

  /** Whether the conditions of a webhook hold. Rejects with Forbidden where that cannot be told and the webhook fails closed. */
  async areMet({ hook, kind, resource }: Invocation, request: Attributes): Promise<boolean> {
    const { spec } = hook;
    if (!spec.matchConditions?.length) return true;
    const series = { name: spec.name, kind: 'webhook', type: this.#type, operation: request.operation };
    const started = performance.now();
    const conditions = this.#conditionsOf(hook);
    const authorizer = new AuthorizerValue(request.user, this.#authorizer);
    const objects = new VisibleObjects(request).in(kind);
    const input = { request, ...objects, kind, resource, params: undefined, namespaceObject: undefined, authorizer };
    const outcome = await settled(() => conditions.match(input, false));
    this.#seconds.observe(series, (performance.now() - started) / 1_000);
    if (outcome === true) return true;
    if (outcome instanceof Error) {
      this.#errors.inc(series);
      if (spec.failurePolicy !== 'Ignore') {
        this.#logger.warn({ webhook: spec.name, error: outcome.message }, 'match conditions could not be evaluated: failing closed');
        throw newForbidden(request.resource, request.name, outcome.message);
      }
    }
    this.#exclusions.inc(series);
    return false;
  }

  #conditionsOf(hook: Hook): MatchConditions {
    let conditions = this.#compiled.get(hook);
    if (!conditions) {
      conditions = MatchConditions.ofWebhook(hook.spec.matchConditions ?? []);
      this.#compiled.set(hook, conditions);
    }
    return conditions;
  }
}
