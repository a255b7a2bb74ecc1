import type { Authenticator } from '#apiserver/authentication/authenticator';
import type { Authorizer } from '#apiserver/authorization/authorizer';
import { within } from './within.ts';

/**
 * An authenticator of a package that does not hold requests up for ever: who takes longer than it may has not known the
 * user, and the credentials count as wrong unless another one knows them.
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

/** The same of an authorizer: who takes longer has no opinion, and the reason of a refusal says so. */
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
