import type { RequestContext } from '#apiserver/request/request-context';
import type { SeatedRequest } from './queue-set.ts';

/** A request that waits in a queue or executes, with its context. */
export interface LiveRequest {
  readonly request: SeatedRequest;
  readonly context: RequestContext;
}
