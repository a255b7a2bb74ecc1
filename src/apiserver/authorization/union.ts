import type { RequestTrace } from '#apiserver/trace/request-trace';
import { tracedAuthorizer } from '#apiserver/trace/traced-guards';
import type { UserInfo } from '#apiserver/authentication/authenticator';
import type { AuthorizationAttributes, AuthorizationResult, Authorizer, UserRules } from './authorizer.ts';

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

  constructor(authorizers: readonly Authorizer[]) {
    this.#authorizers = authorizers;
  }

  /** Asks others from the next request on. */
  replace(authorizers: readonly Authorizer[]): void {
    this.#authorizers = authorizers;
  }

  authorize(attributes: AuthorizationAttributes): AuthorizationResult | Promise<AuthorizationResult> {
    return ask(this.#authorizers, 0, attributes, []);
  }

  /** The same, for a request that is traced: each authorizer's answer is told. */
  authorizeTraced(attributes: AuthorizationAttributes, trace: RequestTrace): ReturnType<UnionAuthorizer['authorize']> {
    const traced = this.#authorizers.map((authorizer) => tracedAuthorizer(authorizer, trace));
    return ask(traced, 0, attributes, []);
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
): AuthorizationResult | Promise<AuthorizationResult> {
  for (let at = from; at < authorizers.length; at += 1) {
    try {
      const answer = authorizers[at]?.authorize(attributes);
      if (answer instanceof Promise) {
        return answer.then(
          (result) => decided(result, reasons) ?? ask(authorizers, at + 1, attributes, reasons),
          (error: unknown) => {
            reasons.push((error as Error).message);
            return ask(authorizers, at + 1, attributes, reasons);
          },
        );
      }
      const result = answer && decided(answer, reasons);
      if (result) return result;
    } catch (error) {
      reasons.push((error as Error).message);
    }
  }
  return { decision: 'NoOpinion', reason: reasons.join('\n') };
}

function decided(result: AuthorizationResult, reasons: string[]): AuthorizationResult | undefined {
  if (result.decision !== 'NoOpinion') return result;
  if (result.reason) reasons.push(result.reason);
  return undefined;
}
