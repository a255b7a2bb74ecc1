import { aggregateMessages } from '#apimachinery/validation/field';
import type { RequestTrace } from '#apiserver/request/request-trace';
import { tracedAuthenticator } from './traced-authenticator.ts';
import type { Authenticator, Credentials } from './authenticator.ts';
import { groupNames, type UserInfo, userNames } from '#apiserver/request/user-info';

/** Failed authentication, with the errors of the authenticators. Nested errors of this class are flattened. */
export class AuthenticationFailedError extends AggregateError {
  constructor(reasons: readonly unknown[]) {
    const errors = reasons.flatMap((reason) => (reason instanceof AuthenticationFailedError ? (reason.errors as unknown[]) : [reason]));
    super(errors, aggregateMessages(errors.map((error) => (error instanceof Error ? error.message : String(error)))));
  }
}

/**
 * Calls the authenticators in order until one succeeds. With `failOnError` the first error is final, so that a request with wrong
 * credentials never reaches the anonymous authenticator.
 *
 * | one returned a user | some threw | result |
 * |---|---|---|
 * | yes | – | that user |
 * | no | yes | AuthenticationFailedError with all errors |
 * | no | no | undefined: the request carries no credentials |
 *
 * The result is synchronous if those of all called authenticators are. Upstream: apiserver/pkg/authentication/request/union/union.go.
 */
export class UnionAuthenticator implements Authenticator {
  readonly name = 'Union';

  #authenticators: readonly Authenticator[];

  constructor(
    authenticators: readonly Authenticator[],
    readonly failOnError = false,
  ) {
    this.#authenticators = authenticators;
  }

  /** Replaces the authenticators from the next request on. */
  replace(authenticators: readonly Authenticator[]): void {
    this.#authenticators = authenticators;
  }

  authenticate(credentials: Credentials): UserInfo | undefined | Promise<UserInfo | undefined> {
    return this.#ask(this.#authenticators, 0, credentials, []);
  }

  /** Like `authenticate`, but records each authenticator's result in the trace. */
  authenticateTraced(credentials: Credentials, trace: RequestTrace): ReturnType<UnionAuthenticator['authenticate']> {
    const traced = this.#authenticators.map((authenticator): Authenticator => {
      if (!(authenticator instanceof UnionAuthenticator)) return tracedAuthenticator(authenticator, trace);
      return { name: authenticator.name, authenticate: (asked) => authenticator.authenticateTraced(asked, trace) };
    });
    return this.#ask(traced, 0, credentials, []);
  }

  /** Calls `authenticators`, the list at the start of the request, which `replace` does not affect. */
  #ask(
    authenticators: readonly Authenticator[],
    from: number,
    credentials: Credentials,
    errors: unknown[],
  ): UserInfo | undefined | Promise<UserInfo | undefined> {
    for (let at = from; at < authenticators.length; at += 1) {
      try {
        const answer = authenticators[at]?.authenticate(credentials);
        if (answer instanceof Promise) {
          return answer.then(
            (user) => user ?? this.#ask(authenticators, at + 1, credentials, errors),
            (error: unknown) => {
              if (this.failOnError) throw error;
              return this.#ask(authenticators, at + 1, credentials, [...errors, error]);
            },
          );
        }
        if (answer) return answer;
      } catch (error) {
        if (this.failOnError) throw error;
        errors.push(error);
      }
    }
    if (errors.length > 0) throw new AuthenticationFailedError(errors);
    return undefined;
  }
}

/** Adds system:authenticated to every user but the anonymous one. Upstream: authentication/group/authenticated_group_adder.go. */
export function withAuthenticatedGroup(user: UserInfo): UserInfo {
  let grouped = withGroup.get(user);
  if (!grouped) {
    grouped = addAuthenticatedGroup(user);
    withGroup.set(user, grouped);
  }
  return grouped;
}

/** Results by user. The same user yields the same object, because caches are keyed by user objects. */
const withGroup = new WeakMap<UserInfo, UserInfo>();

function addAuthenticatedGroup(user: UserInfo): UserInfo {
  const { authenticated, unauthenticated } = groupNames;
  if (user.name === userNames.anonymous || user.groups.includes(authenticated) || user.groups.includes(unauthenticated)) return user;
  return { ...user, groups: [...user.groups, authenticated] };
}
