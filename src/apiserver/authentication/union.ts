import { aggregateMessages } from '#apimachinery/validation/field';
import type { RequestTrace } from '#apiserver/request/request-trace';
import { tracedAuthenticator } from './traced-authenticator.ts';
import type { Authenticator, Credentials } from './authenticator.ts';
import { groupNames, type UserInfo, userNames } from '#apiserver/request/user-info';

/** Why nobody was let in: the reasons of those authenticators that found something wrong. Reasons that are such errors themselves are taken apart. */
export class AuthenticationFailedError extends AggregateError {
  constructor(reasons: readonly unknown[]) {
    const errors = reasons.flatMap((reason) => (reason instanceof AuthenticationFailedError ? (reason.errors as unknown[]) : [reason]));
    super(errors, aggregateMessages(errors.map((error) => (error instanceof Error ? error.message : String(error)))));
  }
}

/**
 * Asks one authenticator after the other; the first success wins. With `failOnError` the first error ends it, so that wrong
 * credentials are never taken for none (the anonymous authenticator stands behind the others like that).
 *
 * | one says user | some threw | result |
 * |---|---|---|
 * | yes | – | that user |
 * | no | yes | AuthenticationFailedError of all reasons |
 * | no | no | undefined: the request carries no credentials |
 *
 * Synchronous as long as all that were asked are. Upstream: apiserver/pkg/authentication/request/union/union.go.
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

  /** Asks others from the next request on. */
  replace(authenticators: readonly Authenticator[]): void {
    this.#authenticators = authenticators;
  }

  authenticate(credentials: Credentials): UserInfo | undefined | Promise<UserInfo | undefined> {
    return this.#ask(this.#authenticators, 0, credentials, []);
  }

  /** The same, for a request that is traced: each authenticator's answer is told. */
  authenticateTraced(credentials: Credentials, trace: RequestTrace): ReturnType<UnionAuthenticator['authenticate']> {
    const traced = this.#authenticators.map((authenticator): Authenticator => {
      if (!(authenticator instanceof UnionAuthenticator)) return tracedAuthenticator(authenticator, trace);
      return { name: authenticator.name, authenticate: (asked) => authenticator.authenticateTraced(asked, trace) };
    });
    return this.#ask(traced, 0, credentials, []);
  }

  /** `authenticators` are those of the beginning of the request, though others may take over meanwhile. */
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

/** Adds system:authenticated to everybody but the anonymous. Upstream: authentication/group/authenticated_group_adder.go. */
export function withAuthenticatedGroup(user: UserInfo): UserInfo {
  let grouped = withGroup.get(user);
  if (!grouped) {
    grouped = addAuthenticatedGroup(user);
    withGroup.set(user, grouped);
  }
  return grouped;
}

/** The same user each time for the same user: what is derived from users is kept by them. */
const withGroup = new WeakMap<UserInfo, UserInfo>();

function addAuthenticatedGroup(user: UserInfo): UserInfo {
  const { authenticated, unauthenticated } = groupNames;
  if (user.name === userNames.anonymous || user.groups.includes(authenticated) || user.groups.includes(unauthenticated)) return user;
  return { ...user, groups: [...user.groups, authenticated] };
}
