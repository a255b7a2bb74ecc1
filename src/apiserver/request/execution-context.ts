import type { ExecutionContext } from '@nestjs/common';
import { RequestContext } from './request-context.ts';

/** Requests that Express serves carry their context under this key. */
export const requestContextKey = Symbol.for('kubenest.RequestContext');

/** The request behind a Nest guard's or interceptor's execution, of an endpoint as of a controller. */
export function requestContextOf(execution: ExecutionContext): RequestContext {
  const [first] = execution.getArgs<[unknown]>();
  if (first instanceof RequestContext) return first;
  const context = (first as { [requestContextKey]?: RequestContext } | undefined)?.[requestContextKey];
  if (!context) throw new Error('this request did not come through the handler chain');
  return context;
}
