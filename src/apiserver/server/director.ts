import { newBadRequest, newMethodNotSupported, newNotFound, newServiceUnavailable } from '#apimachinery/api/errors';
import { respondError, respondNoRoute, respondText } from '#apiserver/endpoints/handlers/responses';
import type { EndpointHandler } from '#apiserver/endpoints/handlers/resource-endpoint';
import type { Handler, MeasuredEndpoint, RequestContext } from '#apiserver/endpoints/request/request-context';
import type { DelegationTarget, GroupVersionEndpoints, InstalledEndpoint } from './delegation.ts';
import type { PathMux } from './path-mux.ts';

/** Resources are counted by what their requests are about. */
const builtIn: MeasuredEndpoint = {
  group: '',
  version: '',
  resource: undefined,
  subresource: '',
  component: 'apiserver',
  isCustom: false,
};
const custom: MeasuredEndpoint = { ...builtIn, isCustom: true };
/** What proxies pass on. */
const connectMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

const itemVerbs = ['get', 'update', 'patch', 'delete', 'connect'];

/**
 * Sends requests on: paths of API groups to the endpoint of their resource, by tables compiled from the delegation chain;
 * all others to the mux. Upstream: apiserver/pkg/server/handler.go.
 */
export class Director {
  #table: ReadonlyMap<string, GroupVersionEndpoints> = new Map();
  /** Groups that the server has in any case: what they lack is told by them. */
  #ownGroups: ReadonlySet<string> = new Set();
  /** Of servers whose kinds come and go: looked at after the table, with each request. */
  #dynamic: readonly DelegationTarget[] = [];

  /** Group versions that other servers answer for, by `group/version`: before all but the aggregator's own group. Looked at with each request. */
  proxied: ReadonlyMap<string, Handler> = new Map();

  constructor(
    readonly mux: PathMux,
    readonly incomplete: WeakSet<RequestContext>,
  ) {}

  /** Takes over what the servers of the chain serve now. */
  compile(chain: readonly DelegationTarget[]): void {
    const table = new Map<string, GroupVersionEndpoints>();
    for (const { isDynamic, endpoints } of chain) {
      if (isDynamic) continue;
      for (const [groupVersion, found] of endpoints) if (!table.has(groupVersion)) table.set(groupVersion, found);
    }
    this.#table = table;
    this.#ownGroups = new Set([...table.keys()].map((groupVersion) => groupVersion.slice(0, groupVersion.indexOf('/'))));
    this.#dynamic = chain.filter(({ isDynamic }) => isDynamic);
  }

  readonly serve: Handler = (context) => {
    try {
      return this.#route(context)?.catch((error: unknown) => respondError(context, error));
    } catch (error) {
      return respondError(context, error);
    }
  };

  #route(context: RequestContext): void | Promise<void> {
    const { info } = context;
    const proxy = this.proxied.size === 0 ? undefined : this.proxied.get(groupVersionOf(context.path));
    if (proxy) return proxy(context);
    if (!info.isResourceRequest) return this.mux.serve(context, this.notFound);
    const groupVersion = `${info.apiGroup}/${info.apiVersion}`;
    const endpoints = this.#table.get(groupVersion);
    if (!endpoints) return this.#routeDynamic(context, this.#find(groupVersion));
    const installed = endpoints.get(endpointName(context));
    if (!installed || !fitsScope(context, installed)) return this.#unknownResource(context, endpoints);
    const handler =
      installed.verbs.get(verbOf(context)) ?? (connectMethods.has(context.method) ? installed.verbs.get('connect') : undefined);
    return handler ? handle(context, installed, handler) : respondNoRoute(context, isRouted(info, installed) ? 405 : 404);
  }

  /** Of kinds that come and go the verb counts, not the route. Upstream: apiextensions-apiserver/pkg/apiserver/customresource_handler.go (ServeHTTP). */
  #routeDynamic(context: RequestContext, endpoints: GroupVersionEndpoints | undefined): void | Promise<void> {
    const { info } = context;
    const installed = endpoints?.get(endpointName(context));
    if (!installed || !fitsDynamicScope(context, installed)) return this.#unknownResource(context, endpoints);
    const handler = installed.verbs.get(info.verb);
    if (handler && info.name === '' && (info.verb === 'update' || info.verb === 'patch'))
      return respondError(context, newBadRequest('name must be provided'));
    if (handler) return handle(context, installed, handler);
    return respondError(context, newMethodNotSupported({ group: info.apiGroup, resource: info.resource }, info.verb));
  }

  #find(groupVersion: string): GroupVersionEndpoints | undefined {
    for (const { endpoints } of this.#dynamic) {
      const found = endpoints.get(groupVersion);
      if (found) return found;
    }
    return undefined;
  }

  /** A resource that no server has. Before all is installed that may be a matter of time: 503. */
  #unknownResource(context: RequestContext, endpoints?: GroupVersionEndpoints): void | Promise<void> {
    if (this.incomplete.has(context))
      return respondError(
        context,
        newServiceUnavailable('the request has been made before all known HTTP paths have been installed, please try again'),
      );
    const { info } = context;
    if (info.isResourceRequest && !this.#ownGroups.has(info.apiGroup)) {
      const parent = info.subresource === '' ? undefined : endpoints?.get(info.resource);
      if (parent && fitsDynamicScope(context, parent))
        return respondError(context, newNotFound({ group: info.apiGroup, resource: info.resource }, info.name));
      return this.#nothingHere(context);
    }
    return respondNoRoute(context, 404);
  }

  #nothingHere(context: RequestContext): void | Promise<void> {
    return respondText(context, 404, '404 page not found');
  }

  readonly notFound: Handler = (context) => {
    if (this.incomplete.has(context)) return this.#unknownResource(context);
    return this.#nothingHere(context);
  };
}

function endpointName({ info }: RequestContext): string {
  return info.subresource ? `${info.resource}/${info.subresource}` : info.resource;
}

function handle(context: RequestContext, { endpoint }: InstalledEndpoint, handler: EndpointHandler): void | Promise<void> {
  const { deprecationWarning, removedRelease, custom: isCustom } = endpoint.definition;
  if (deprecationWarning !== undefined) warnOfDeprecated(context, deprecationWarning, removedRelease);
  context.mediaTypes = endpoint.restrictions.mediaTypes;
  context.measured = isCustom ? custom : builtIn;
  return handler(context, endpoint);
}

/** The client is warned, and the audit says so. Upstream: endpoints/installer.go, endpoints/metrics/metrics.go. */
function warnOfDeprecated(context: RequestContext, warning: string, removedRelease: string | undefined): void {
  context.warn(warning);
  context.auditAnnotations?.set('k8s.io/deprecated', 'true');
  if (removedRelease !== undefined) context.auditAnnotations?.set('k8s.io/removed-release', removedRelease);
}

/** Of a path at or below `/apis/<group>/<version>`; all of `/api` is the core group's. Empty for other paths. */
function groupVersionOf(path: string): string {
  const [, root, group = '', version] = path.split('/', 4);
  if (root === 'api') return '/v1';
  return root === 'apis' && version ? `${group}/${version}` : '';
}

/**
 * Objects of a namespace are named below their namespace only, cluster-scoped ones never below one (CVE-2019-11247);
 * lists and watches of namespaced resources may span all namespaces.
 */
function fitsScope({ info }: RequestContext, { namespaced, endpoint }: InstalledEndpoint): boolean {
  const isNamespaces = endpoint.definition.resource === 'namespaces' && endpoint.definition.group === '';
  if (!namespaced) return isNamespaces || info.namespace === '';
  return info.namespace !== '' || info.parts.length === 1;
}

/** Whether the path is one at all: of what is only made (SubjectAccessReviews), nothing has a path of its own. */
function isRouted({ parts }: RequestContext['info'], { verbs }: InstalledEndpoint): boolean {
  return parts.length !== 2 || itemVerbs.some((verb) => verbs.has(verb));
}

/** Of namespaced ones, only what may span all namespaces needs none. Upstream: possiblyAcrossAllNamespacesVerbs. */
function fitsDynamicScope({ info }: RequestContext, { namespaced }: InstalledEndpoint): boolean {
  if (!namespaced) return info.namespace === '';
  return info.namespace !== '' || info.verb === 'list' || info.verb === 'watch';
}

function verbOf({ info, method }: RequestContext): string {
  if (info.verb === 'create' && info.parts.length === 2) return 'create-named';
  if (info.parts.length === 1 && (info.verb === 'update' || info.verb === 'patch')) return '';
  if (info.namespace === '' && info.parts.length === 1 && (info.verb === 'create' || info.verb === 'deletecollection'))
    return `${info.verb}-cluster`;
  return method === 'HEAD' ? '' : info.verb;
}
