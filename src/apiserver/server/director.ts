import { newBadRequest, newMethodNotSupported, newNotFound, newServiceUnavailable } from '#apimachinery/api/errors';
import { isPatchType } from '#apiserver/endpoints/handlers/patch-types';
import { RouteError } from '#apiserver/endpoints/handlers/negotiation';
import { respondError, respondNoRoute, respondText } from '#apiserver/endpoints/handlers/responses';
import type { EndpointHandler } from '#apiserver/endpoints/handlers/resource-endpoint';
import type { Handler, MeasuredEndpoint, RequestContext } from '#apiserver/request/request-context';
import type { Deprecation } from '#apiserver/registry/deprecation';
import type { RequestInfo } from '#apiserver/request/request-info';
import type { DelegationTarget } from './delegation.ts';
import type { GroupVersionEndpoints, InstalledEndpoint } from '#apiserver/endpoints/installed-endpoint';
import type { PathMux } from '#apiserver/endpoints/path-mux';
import { formOf, hasRoute, type RouteForm, verbOfRoute } from './resource-route.ts';

/** Metric labels of built-in resources, from the request info. */
const builtIn: MeasuredEndpoint = {
  group: '',
  version: '',
  resource: undefined,
  subresource: '',
  component: 'apiserver',
  isCustom: false,
};
const custom: MeasuredEndpoint = { ...builtIn, isCustom: true };
/** Forms whose handlers require a name; an empty segment is rejected. */
const namedForms = new Set<RouteForm>(['object', 'subresource', 'belowSubresource']);

/**
 * Dispatches requests: paths of API groups to the endpoint of their resource, by tables compiled from the delegation chain; all
 * others to the mux. Upstream: apiserver/pkg/server/handler.go.
 */
export class Director {
  #table: ReadonlyMap<string, GroupVersionEndpoints> = new Map();
  /** Groups of the server itself; an unknown resource in one of them is a 404 of the server. */
  #ownGroups: ReadonlySet<string> = new Set();
  /** Servers whose kinds change; read for each request, after the table. */
  #dynamic: readonly DelegationTarget[] = [];

  /**
   * Handlers of group versions that other servers serve, by `group/version`. They precede all but the aggregator's own group and
   * are read for each request.
   */
  proxied: ReadonlyMap<string, Handler> = new Map();

  /** Returns the handler of a resource that only another server of the cluster serves; called for each unknown resource. */
  elsewhere: (context: RequestContext) => Handler | undefined = () => undefined;

  constructor(
    readonly mux: PathMux,
    readonly incomplete: WeakSet<RequestContext>,
  ) {}

  /** Compiles the tables from the current endpoints of the chain. */
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
      return this.#route(context)?.catch((error: unknown) => refuse(context, error));
    } catch (error) {
      return refuse(context, error);
    }
  };

  #route(context: RequestContext): void | Promise<void> {
    const { info, path, method } = context;
    const proxy = this.proxied.size === 0 ? undefined : this.proxied.get(groupVersionOf(path));
    if (proxy) return proxy(context);
    const groupVersion = routedGroupVersion(info);
    if (groupVersion === undefined) return this.mux.serve(context, this.notFound);
    const endpoints = this.#table.get(groupVersion);
    if (!endpoints) return this.#routeDynamic(context, this.#find(groupVersion));
    const installed = endpoints.get(endpointName(context));
    const form = installed && formOf(info, installed.namespaced);
    if (!installed || !form) return this.#unknownResource(context, endpoints);
    const verb = verbOfRoute(form, info, method, installed.verbs);
    const handler = verb && installed.verbs.get(verb);
    if (!handler) return respondNoRoute(context, hasRoute(form, installed.verbs) ? 405 : 404);
    if (info.name === '' && namedForms.has(form)) return respondError(context, newBadRequest('name must be provided'));
    warnIfDeprecated(context, installed.endpoint.definition);
    return handle(context, installed, handler);
  }

  /**
   * Routes a request for changing kinds by verb instead of route. Upstream:
   * apiextensions-apiserver/pkg/apiserver/customresource_handler.go (ServeHTTP).
   */
  #routeDynamic(context: RequestContext, endpoints: GroupVersionEndpoints | undefined): void | Promise<void> {
    const { info } = context;
    const installed = endpoints?.get(endpointName(context));
    if (!installed || !fitsDynamicScope(context, installed)) return this.#unknownResource(context, endpoints);
    const handler = installed.verbs.get(info.verb);
    // Upstream warns before it looks for the verb.
    warnIfDeprecated(context, installed.endpoint.definition);
    // Upstream checks the content type of a patch before the name.
    const isNameless = info.verb === 'update' || (info.verb === 'patch' && isPatchType(context, installed.endpoint));
    if (handler && info.name === '' && isNameless) return respondError(context, newBadRequest('name must be provided'));
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

  /** Responds to a request for an unknown resource with 404; 503 if the request came before all paths were installed. */
  #unknownResource(context: RequestContext, endpoints?: GroupVersionEndpoints): void | Promise<void> {
    if (this.incomplete.has(context))
      return respondError(
        context,
        newServiceUnavailable('the request has been made before all known HTTP paths have been installed, please try again'),
      );
    const { info } = context;
    const elsewhere = info.isResourceRequest && !endpoints?.has(info.resource) ? this.elsewhere(context) : undefined;
    if (elsewhere) return elsewhere(context);
    if (info.isResourceRequest && !this.#ownGroups.has(info.apiGroup)) {
      const parent = info.subresource === '' ? undefined : endpoints?.get(info.resource);
      if (parent && fitsDynamicScope(context, parent)) {
        warnIfDeprecated(context, parent.endpoint.definition);
        return respondError(context, newNotFound({ group: info.apiGroup, resource: info.resource }, info.name));
      }
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
  context.mediaTypes = endpoint.restrictions.mediaTypes;
  context.measured = endpoint.definition.custom ? custom : builtIn;
  return handler(context, endpoint);
}

/** Responds with an error. One of the router comes before upstream warns of deprecated versions. */
function refuse(context: RequestContext, error: unknown): void {
  if (error instanceof RouteError) {
    context.unwarn();
    context.auditAnnotations?.delete(deprecatedAnnotation);
    context.auditAnnotations?.delete(removedReleaseAnnotation);
  }
  respondError(context, error);
}

const deprecatedAnnotation = 'k8s.io/deprecated';
const removedReleaseAnnotation = 'k8s.io/removed-release';

/**
 * Adds the warning of a deprecated version to the response and the audit annotations. Upstream: endpoints/installer.go,
 * endpoints/metrics/metrics.go.
 */
function warnIfDeprecated(context: RequestContext, { deprecationWarning, removedRelease }: Deprecation): void {
  if (deprecationWarning === undefined) return;
  context.warn(deprecationWarning);
  context.auditAnnotations?.set(deprecatedAnnotation, 'true');
  if (removedRelease !== undefined) context.auditAnnotations?.set(removedReleaseAnnotation, removedRelease);
}

/**
 * Returns the `group/version` whose routes serve the request; undefined if its path has several leading slashes or an empty group:
 * such a path has the request info of a resource but no route. Upstream: server/handler.go (director.ServeHTTP).
 */
function routedGroupVersion({ isResourceRequest, path, apiPrefix, apiGroup, apiVersion }: RequestInfo): string | undefined {
  if (!isResourceRequest || path.charCodeAt(1) === 0x2f || (apiPrefix === 'apis' && apiGroup === '')) return undefined;
  return `${apiGroup}/${apiVersion}`;
}

/**
 * Returns the group version of a path at or below `/apis/<group>/<version>`; all of `/api` belongs to the core group. Empty for
 * other paths.
 */
function groupVersionOf(path: string): string {
  const [, root, group = '', version] = path.split('/', 4);
  if (root === 'api') return '/v1';
  return root === 'apis' && version ? `${group}/${version}` : '';
}

/**
 * True if the namespace fits the scope: for a namespaced resource, only list and watch may omit it. Upstream:
 * possiblyAcrossAllNamespacesVerbs.
 */
function fitsDynamicScope({ info }: RequestContext, { namespaced }: InstalledEndpoint): boolean {
  if (!namespaced) return info.namespace === '';
  return info.namespace !== '' || info.verb === 'list' || info.verb === 'watch';
}
