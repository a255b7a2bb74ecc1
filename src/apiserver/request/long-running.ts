import type { RequestContext } from './request-context.ts';

const verbs = new Set(['watch', 'proxy']);
const subresources = new Set(['attach', 'exec', 'proxy', 'log', 'portforward']);

/**
 * True for watches, proxied requests and streams to nodes, which have no deadline and hold no seat of the in-flight limits.
 * Upstream: kubernetes/pkg/controlplane/apiserver/config.go (BasicLongRunningRequestCheck).
 */
export function isLongRunning({ info }: RequestContext): boolean {
  return info.isResourceRequest ? verbs.has(info.verb) || subresources.has(info.subresource) : info.path.startsWith('/debug/pprof/');
}
