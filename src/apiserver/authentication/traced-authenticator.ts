import type { RequestTrace } from '#apiserver/request/request-trace';
import { traced, type Verdict } from '#apiserver/request/traced-answer';
import type { UserInfo } from '#apiserver/request/user-info';
import type { Authenticator } from './authenticator.ts';

/** Returns an authenticator that records its results in a trace. */
export function tracedAuthenticator(authenticator: Authenticator, trace: RequestTrace): Authenticator {
  const { name } = authenticator;
  return {
    name,
    authenticate: (credentials) =>
      traced(trace, 'authentication', name, () => authenticator.authenticate(credentials), verdictOfUser, 'wrong credentials'),
  };
}

function verdictOfUser(user: UserInfo | undefined): Verdict {
  return user ? { verdict: 'knows the user', reason: user.name } : { verdict: 'no opinion' };
}
