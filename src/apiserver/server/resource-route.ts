import type { RequestInfo } from '#apiserver/request/request-info';

/** Form of a resource's path below its group version. Upstream: endpoints/installer.go (registerResourceHandlers). */
export type RouteForm =
  | 'collection'
  | 'acrossNamespaces'
  | 'object'
  | 'subresource'
  | 'belowSubresource'
  | 'watchedCollection'
  | 'watchedAcrossNamespaces'
  | 'watchedObject';

/** Verb of an endpoint; `connect` stands for every method of a proxy. */
export type EndpointVerb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection' | 'connect';

type VerbOfMethod = Readonly<Partial<Record<string, EndpointVerb>>>;

const watch: VerbOfMethod = { GET: 'watch' };
const connect: VerbOfMethod = Object.fromEntries(
  ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].map((method) => [method, 'connect' as const]),
);
/** Verb of each method by form. HEAD has routes for proxies only. */
const verbsOfForm: Readonly<Record<RouteForm, VerbOfMethod>> = {
  collection: { GET: 'list', POST: 'create', DELETE: 'deletecollection' },
  acrossNamespaces: { GET: 'list' },
  object: { GET: 'get', PUT: 'update', PATCH: 'patch', DELETE: 'delete' },
  subresource: { GET: 'get', POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' },
  belowSubresource: connect,
  watchedCollection: watch,
  watchedAcrossNamespaces: watch,
  watchedObject: watch,
};

/**
 * Returns the form of the request's path as a route of a resource of that scope; undefined if it has none: a cluster-scoped resource
 * below a namespace (CVE-2019-11247), a namespaced object without a namespace, a subresource after `watch`.
 *
 *     scope      path below the group version   form
 *     namespace  namespaces/NS/pods             collection
 *     namespace  pods                           acrossNamespaces
 *     namespace  pods/NAME                      none
 *     cluster    nodes/NAME                     object
 *     cluster    namespaces/NS/nodes/NAME       none
 *     cluster    namespaces/NS                  object, of the resource `namespaces`
 *     any        watch/…/NAME/status            none
 */
export function formOf({ parts, inNamespace, verbPrefix }: RequestInfo, namespaced: boolean): RouteForm | undefined {
  const { length } = parts;
  if (verbPrefix === 'proxy' || inNamespace !== namespaced) {
    if (verbPrefix === 'proxy' || inNamespace || length !== 1) return undefined;
    return verbPrefix === 'watch' ? 'watchedAcrossNamespaces' : 'acrossNamespaces';
  }
  if (verbPrefix === 'watch') return length === 1 ? 'watchedCollection' : length === 2 ? 'watchedObject' : undefined;
  if (length === 1) return 'collection';
  if (length === 2) return 'object';
  return length === 3 ? 'subresource' : 'belowSubresource';
}

/**
 * True if an endpoint with these verbs has a route of that form, for any method. As upstream, only listable resources have watch
 * routes.
 */
export function hasRoute(form: RouteForm, verbs: ReadonlyMap<string, unknown>): boolean {
  if (form === 'subresource' && verbs.has('connect')) return true;
  return Object.values(verbsOfForm[form]).some((verb) => verb !== undefined && verbs.has(verb));
}

/** Returns the verb of a method; undefined if the form has no route for it. */
export function verbOfRoute(
  form: RouteForm,
  { verb }: RequestInfo,
  method: string,
  verbs: ReadonlyMap<string, unknown>,
): EndpointVerb | undefined {
  if (form === 'subresource' && verbs.has('connect')) return connect[method];
  const found = Object.hasOwn(verbsOfForm[form], method) ? verbsOfForm[form][method] : undefined;
  return found === 'list' && verb === 'watch' ? 'watch' : found;
}
