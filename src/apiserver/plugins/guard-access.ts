import type { Authenticator } from '#apiserver/authentication/authenticator';
import type { Authorizer } from '#apiserver/authorization/authorizer';
import type { UserInfo } from '#apiserver/request/user-info';
import { within } from './within.ts';

/**
 * Limits the duration of a package's authenticator, and removes its credential headers from requests that it authenticates. After
 * the timeout it counts as an authentication failure, unless another
 * authenticator accepts the credentials.
 */
export function guardAuthenticator(name: string, authenticator: Authenticator, timeoutMs: number): Authenticator {
  return {
    name,
    authenticate(credentials) {
      const answer = authenticator.authenticate(credentials);
      return answer instanceof Promise ? within(answer, timeoutMs).then(accept) : accept(answer);

      function accept(user: UserInfo | undefined): UserInfo | undefined {
        if (user) for (const header of authenticator.credentialHeaders ?? []) delete credentials.headers[header];
        return user;
      }
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
