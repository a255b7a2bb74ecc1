import type { RequestTrace } from '#apiserver/request/request-trace';
import { traced, type Verdict } from '#apiserver/request/traced-answer';
import type { AuthorizationResult, Authorizer } from './authorizer.ts';

/** Returns an authorizer that records its decisions in a trace. */
export function tracedAuthorizer(authorizer: Authorizer, trace: RequestTrace): Authorizer {
  const { name } = authorizer;
  return {
    name,
    authorize: (attributes) => traced(trace, 'authorization', name, () => authorizer.authorize(attributes), verdictOfDecision, 'failed'),
  };
}

function verdictOfDecision({ decision, reason }: AuthorizationResult): Verdict {
  return { verdict: decision, ...(reason && { reason }) };
}
