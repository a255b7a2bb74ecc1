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

/** How often authorizers have decided. Those that come with another configuration go on where those of their name left. */
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
 * Asks one authorizer after the other; the first that has an opinion decides, errors and reasons of the others are kept.
 *
 * | first opinion | result |
 * |---|---|
 * | Allow | Allow |
 * | Deny | Deny |
 * | none of them has one | NoOpinion with all reasons: the request is refused |
 *
 * Upstream: apiserver/pkg/authorization/union/union.go.
 */
export class UnionAuthorizer implements Authorizer {
  readonly name = 'Union';

  #authorizers: readonly Authorizer[];
  /** How often each has decided, for /metrics. */
  readonly decisions = new Decisions();

  constructor(authorizers: readonly Authorizer[]) {
    this.#authorizers = authorizers;
  }

  /** Asks others from the next request on. */
  replace(authorizers: readonly Authorizer[]): void {
    this.#authorizers = authorizers;
  }

  authorize(attributes: AuthorizationAttributes): AuthorizationResult | Promise<AuthorizationResult> {
    return ask(this.#authorizers, 0, attributes, [], this.decisions);
  }

  /** The same, for a request that is traced: each authorizer's answer is told. */
  authorizeTraced(attributes: AuthorizationAttributes, trace: RequestTrace): ReturnType<UnionAuthorizer['authorize']> {
    const traced = this.#authorizers.map((authorizer) => tracedAuthorizer(authorizer, trace));
    return ask(traced, 0, attributes, [], this.decisions);
  }

  /** The rules of all that have some, one after the other. */
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

/** `authorizers` are those of the beginning of the request, though others may take over meanwhile. */
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
