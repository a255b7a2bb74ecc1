import type { RequestTrace } from '#apiserver/request/request-trace';
import { tracedAuthorizer } from './traced-authorizer.ts';
import type { UserInfo } from '#apiserver/request/user-info';
import type { AuthorizationAttributes, AuthorizationResult, Authorizer, UserRules } from './authorizer.ts';

interface DecisionCounts {
  readonly type: string;
  readonly name: string;
  allowed: number;
  denied: number;
}

/** Decision counts by authorizer name. They persist across configuration changes. */
export class Decisions {
  readonly #known = new WeakMap<Authorizer, DecisionCounts>();
  readonly #all = new Map<string, DecisionCounts>();

  of(authorizer: Authorizer): DecisionCounts {
    let counts = this.#known.get(authorizer);
    if (counts) return counts;
    const type = authorizer.type ?? authorizer.name;
    const name = authorizer.type === undefined ? type.toLowerCase() : authorizer.name;
    counts = this.#all.get(`${type}/${name}`) ?? { type, name, allowed: 0, denied: 0 };
    this.#all.set(`${type}/${name}`, counts);
    this.#known.set(authorizer, counts);
    return counts;
  }

  get all(): Iterable<Readonly<DecisionCounts>> {
    return this.#all.values();
  }
}

/**
 * Calls the authorizers in order; the first opinion decides. Errors and reasons of the others are collected.
 *
 * | first opinion | result |
 * |---|---|
 * | Allow | Allow |
 * | Deny | Deny |
 * | none | NoOpinion with all reasons: the request is denied |
 *
 * Upstream: apiserver/pkg/authorization/union/union.go.
 */
export class UnionAuthorizer implements Authorizer {
  readonly name = 'Union';

  #authorizers: readonly Authorizer[];
  /** Decision counts for /metrics. */
  readonly decisions = new Decisions();

  constructor(authorizers: readonly Authorizer[]) {
    this.#authorizers = authorizers;
  }

  /** Replaces the authorizers from the next request on. */
  replace(authorizers: readonly Authorizer[]): void {
    this.#authorizers = authorizers;
  }

  authorize(attributes: AuthorizationAttributes): AuthorizationResult | Promise<AuthorizationResult> {
    return ask(this.#authorizers, 0, attributes, [], this.decisions);
  }

  /** Like `authorize`, but records each authorizer's decision in the trace. */
  authorizeTraced(attributes: AuthorizationAttributes, trace: RequestTrace): ReturnType<UnionAuthorizer['authorize']> {
    const traced = this.#authorizers.map((authorizer) => tracedAuthorizer(authorizer, trace));
    return ask(traced, 0, attributes, [], this.decisions);
  }

  /** Returns the rules of all authorizers that have some, in order. */
  async rulesFor(user: UserInfo, namespace: string): Promise<UserRules> {
    const all = await Promise.all(this.#authorizers.map(async (authorizer) => authorizer.rulesFor?.(user, namespace)));
    const rules = all.filter((one) => one !== undefined);
    return {
      resourceRules: rules.flatMap(({ resourceRules }) => resourceRules),
      nonResourceRules: rules.flatMap(({ nonResourceRules }) => nonResourceRules),
      incomplete: rules.some(({ incomplete }) => incomplete),
      errors: rules.flatMap(({ errors }) => errors),
    };
  }
}

/** Calls `authorizers`, the list at the start of the request, which `replace` does not affect. */
function ask(
  authorizers: readonly Authorizer[],
  from: number,
  attributes: AuthorizationAttributes,
  reasons: string[],
  decisions: Decisions,
): AuthorizationResult | Promise<AuthorizationResult> {
  for (let at = from; at < authorizers.length; at += 1) {
    const authorizer = authorizers[at] as Authorizer;
    try {
      const answer = authorizer.authorize(attributes);
      if (answer instanceof Promise) {
        return answer.then(
          (result) => decided(authorizer, result, reasons, decisions) ?? ask(authorizers, at + 1, attributes, reasons, decisions),
          (error: unknown) => {
            reasons.push((error as Error).message);
            return ask(authorizers, at + 1, attributes, reasons, decisions);
          },
        );
      }
      const result = decided(authorizer, answer, reasons, decisions);
      if (result) return result;
    } catch (error) {
      reasons.push((error as Error).message);
    }
  }
  return { decision: 'NoOpinion', reason: reasons.join('\n') };
}

function decided(
  authorizer: Authorizer,
  result: AuthorizationResult,
  reasons: string[],
  decisions: Decisions,
): AuthorizationResult | undefined {
  if (result.decision !== 'NoOpinion') {
    decisions.of(authorizer)[result.decision === 'Allow' ? 'allowed' : 'denied'] += 1;
    return result;
  }
  if (result.reason) reasons.push(result.reason);
  return undefined;
}
