import type { Filter } from '#apiserver/request/request-context';

/** Disables shared caches, because responses depend on the user. Upstream: endpoints/filters/cachecontrol.go. */
export const withCacheControl: Filter = (next) => (context) => {
  context.headers.push('Cache-Control', 'no-cache, private');
  return next(context);
};
