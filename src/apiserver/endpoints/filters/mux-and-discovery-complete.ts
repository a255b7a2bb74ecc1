import type { Filter, RequestContext } from '#apiserver/request/request-context';

/**
 * Marks requests that arrive before all paths are installed, so that a 404 becomes a 503, which clients retry. Upstream:
 * endpoints/filters/mux_discovery_complete.go.
 */
export function withMuxAndDiscoveryComplete(complete: { readonly fired: boolean }, incomplete: WeakSet<RequestContext>): Filter {
  return (next) => (context) => {
    if (!complete.fired) incomplete.add(context);
    return next(context);
  };
}
