import { type Attributes, type Authorizer, type Logger, type Metrics, newForbidden } from 'kubenest/sdk';
import { AuthorizerValue, MatchConditionMetrics, MatchConditions, settled, VisibleObjects } from '#sdk/internal';
import type { Hook, Invocation } from './hook.ts';

/** Evaluates the match conditions of webhooks. Upstream: plugin/webhook/matchconditions/matcher.go. */
export class ConditionMatcher {
  readonly #authorizer: Authorizer;
  readonly #logger: Logger;
  /** Conditions by webhook, compiled at first use; a changed configuration creates new webhooks. */
  readonly #compiled = new WeakMap<Hook, MatchConditions>();
  readonly #metrics: MatchConditionMetrics;

  constructor(type: 'admit' | 'validating', authorizer: Authorizer, metrics: Metrics, logger: Logger) {
    this.#authorizer = authorizer;
    this.#logger = logger;
    this.#metrics = new MatchConditionMetrics(metrics, 'webhook', type);
  }

  /**
   * Resolves to true if the conditions match. Rejects with Forbidden if they cannot be evaluated and the webhook fails
   * closed.
   */
  async areMet({ hook, kind, resource }: Invocation, request: Attributes): Promise<boolean> {
    const { spec } = hook;
    if (!spec.matchConditions?.length) return true;
    const conditions = this.#conditionsOf(hook);
    const authorizer = new AuthorizerValue(request.user, this.#authorizer);
    const objects = new VisibleObjects(request).in(kind);
    const input = { request, ...objects, kind, resource, params: undefined, namespaceObject: undefined, authorizer };
    const outcome = await settled(() => conditions.match(input, spec.failurePolicy === 'Ignore'));
    this.#metrics.observe(spec.name, request.operation, outcome);
    if (outcome.match === true) return true;
    if (outcome.match instanceof Error) {
      this.#logger.warn({ webhook: spec.name, error: outcome.match.message }, 'match conditions could not be evaluated: failing closed');
      throw newForbidden(request.resource, request.name, outcome.match.message);
    }
    this.#metrics.excluded(spec.name, request.operation);
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
