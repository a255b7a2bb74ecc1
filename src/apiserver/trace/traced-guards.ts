import type { Authenticator, UserInfo } from '#apiserver/authentication/authenticator';
import type { AuthorizationResult, Authorizer } from '#apiserver/authorization/authorizer';
import { type RequestTrace, rounded, type TraceStage } from './request-trace.ts';

/** Returns an authenticator that records its results in a trace. */
export function tracedAuthenticator(authenticator: Authenticator, trace: RequestTrace): Authenticator {
  const { name } = authenticator;
  return {
    name,
    authenticate: (credentials) =>
      traced(trace, 'authentication', name, () => authenticator.authenticate(credentials), verdictOfUser, 'wrong credentials'),
  };
}

/** Returns an authorizer that records its decisions in a trace. */
export function tracedAuthorizer(authorizer: Authorizer, trace: RequestTrace): Authorizer {
  const { name } = authorizer;
  return {
    name,
    authorize: (attributes) => traced(trace, 'authorization', name, () => authorizer.authorize(attributes), verdictOfDecision, 'failed'),
  };
}

interface Verdict {
  readonly verdict: string;
  readonly reason?: string;
}

function verdictOfUser(user: UserInfo | undefined): Verdict {
  return user ? { verdict: 'knows the user', reason: user.name } : { verdict: 'no opinion' };
}

function verdictOfDecision({ decision, reason }: AuthorizationResult): Verdict {
  return { verdict: decision, ...(reason && { reason }) };
}

function traced<T>(
  trace: RequestTrace,
  stage: TraceStage,
  name: string,
  ask: () => T | Promise<T>,
  verdictOf: (answer: T) => Verdict,
  failure: string,
): T | Promise<T> {
  const began = performance.now();
  const add = (verdict: Verdict): void => trace.add({ stage, name, milliseconds: rounded(performance.now() - began), ...verdict });
  const answered = (answer: T): T => {
    add(verdictOf(answer));
    return answer;
  };
  const failed = (error: unknown): never => {
    add({ verdict: failure, reason: (error as Error).message });
    throw error;
  };
  try {
    const answer = ask();
    return answer instanceof Promise ? answer.then(answered, failed) : answered(answer);
  } catch (error) {
    return failed(error);
  }
}
