import type { Filter } from '#apiserver/request/request-context';

/** Answers depend on who asks: no shared cache may keep them. Upstream: endpoints/filters/cachecontrol.go. */
export const withCacheControl: Filter = (next) => (context) => {
  context.headers.push('Cache-Control', 'no-cache, private');
  return next(context);
};
