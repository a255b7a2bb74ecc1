import type { ExecutionContext } from '@nestjs/common';
import { RequestContext } from './request-context.ts';

/** Key of the request context on requests that Express serves. */
export const requestContextKey = Symbol.for('kubenest.RequestContext');

/** Returns the request context of a Nest execution, of a resource endpoint or a controller. Throws if there is none. */
export function requestContextOf(execution: ExecutionContext): RequestContext {
  const [first] = execution.getArgs<[unknown]>();
  if (first instanceof RequestContext) return first;
  const context = (first as { [requestContextKey]?: RequestContext } | undefined)?.[requestContextKey];
  if (!context) throw new Error('this request did not come through the handler chain');
  return context;
}
