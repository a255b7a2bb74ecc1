import type { Authenticator } from '#apiserver/authentication/authenticator';
import type { Authorizer } from '#apiserver/authorization/authorizer';
import { within } from './within.ts';

/**
 * Limits the duration of a package's authenticator: after the timeout it counts as an authentication failure, unless another
 * authenticator accepts the credentials.
 */
export function guardAuthenticator(name: string, authenticator: Authenticator, timeoutMs: number): Authenticator {
  return {
    name,
    authenticate(credentials) {
      const answer = authenticator.authenticate(credentials);
      return answer instanceof Promise ? within(answer, timeoutMs) : answer;
    },
  };
}

/**
 * Limits the duration of a package's authorizer: after the timeout it has no opinion, and the reason of a denial reports it.
 */
export function guardAuthorizer(name: string, authorizer: Authorizer, timeoutMs: number): Authorizer {
  return {
    name,
    authorize(attributes) {
      const answer = authorizer.authorize(attributes);
      return answer instanceof Promise ? within(answer, timeoutMs) : answer;
    },
    ...(authorizer.rulesFor && { rulesFor: (user, namespace) => authorizer.rulesFor!(user, namespace) }),
  };
}
