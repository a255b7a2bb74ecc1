import type { ResourceEndpoint } from './handlers/resource-endpoint.ts';
import type { RequestContext } from './request/request-context.ts';

/**
 * An interceptor that only opens something before a verb and has nothing to do with its answer. Where a handler has no others,
 * they are called straight: Nest's way through rxjs costs a write 15 µs and makes every answer a promise.
 */
export interface OpeningInterceptor {
  open(context: RequestContext, endpoint: ResourceEndpoint): unknown;
}
