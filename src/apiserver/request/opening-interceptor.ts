import type { RequestContext } from './request-context.ts';

/**
 * An interceptor that acts before a verb and does not change its response. If a handler has no interceptors of other kinds, the
 * server calls `open` directly: Nest's rxjs pipeline costs 15 µs for each write and makes each response a promise.
 */
export interface OpeningInterceptor<Endpoint = unknown> {
  open(context: RequestContext, endpoint: Endpoint): void;
}
