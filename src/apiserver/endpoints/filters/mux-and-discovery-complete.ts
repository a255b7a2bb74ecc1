import type { Filter, RequestContext } from '#apiserver/request/request-context';

/**
 * Marks requests that came before all paths were installed, so that a 404 of theirs becomes a 503 that clients repeat.
 * Upstream: endpoints/filters/mux_discovery_complete.go.
 */
export function withMuxAndDiscoveryComplete(complete: { readonly fired: boolean }, incomplete: WeakSet<RequestContext>): Filter {
  return (next) => (context) => {
    if (!complete.fired) incomplete.add(context);
    return next(context);
  };
}
