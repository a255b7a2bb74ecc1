import { StatusError } from '#apimachinery/api/errors';
import type { Steps } from '#apimachinery/runtime/steps';
import { decodeListOptions, parseBoolean, readSelectors } from './list-options.ts';

/**
 * Coordinates of a request, read once from its method, path and query. They are the only source for authentication, flow control,
 * authorization, admission, audit, metrics and the handler; the director rejects a path that does not have exactly the form of a
 * route (routeOf). Upstream: apiserver/pkg/endpoints/request/requestinfo.go.
 */
export interface RequestInfo {
  readonly isResourceRequest: boolean;
  /** Decoded path, without the query. */
  readonly path: string;
  /** API verb (`get`, `list`, `watch`, `create`, …) of a resource request; otherwise the method in lower case. */
  readonly verb: string;
  readonly apiPrefix: string;
  readonly apiGroup: string;
  readonly apiVersion: string;
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  /** Object name; empty for collections, unless a field selector selects one name (see `selectedName`). */
  name: string;
  /** Path segments from the resource on. */
  readonly parts: readonly string[];
  /** Special verb before the resource: the deprecated `watch`, or `proxy`, which has no route; empty: none. */
  readonly verbPrefix: '' | 'watch' | 'proxy';
  /** True if `namespaces/NAME/` precedes the resource. False for `namespaces/NAME` itself, although its `namespace` is set. */
  readonly inNamespace: boolean;
  /** Unparsed parameter of a list, watch or deletion of a collection; empty for other requests and after a special verb. */
  readonly fieldSelector: string;
  /** Like `fieldSelector`. */
  readonly labelSelector: string;
}

/** Thrown for a path without request info, to which upstream responds with 500. */
export class RequestInfoError extends Error {}

const namespaceSubresources = new Set(['status', 'finalize']);
const verbsWithSelectors = new Set(['list', 'watch', 'deletecollection']);
const verbOfMethod: Readonly<Record<string, string>> = {
  POST: 'create',
  GET: 'get',
  HEAD: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** Returns the info of a non-resource request; path and method are empty before a request is read. */
export const nonResource = (path: string, method: string): RequestInfo => ({
  isResourceRequest: false,
  path,
  verb: method.toLowerCase(),
  apiPrefix: '',
  apiGroup: '',
  apiVersion: '',
  namespace: '',
  resource: '',
  subresource: '',
  name: '',
  parts: [],
  verbPrefix: '',
  inNamespace: false,
  fieldSelector: '',
  labelSelector: '',
});

/**
 * Parses every form of path: `/api/v1/namespaces/ns/pods/name/status`, `/apis/group/version/resource`, the deprecated
 * `/api/v1/watch/…`, and all others as non-resource requests. `parameters` returns those of the query; it is called for collections
 * only.
 */
export function parseRequestInfo(method: string, path: string, parameters: () => URLSearchParams): RequestInfo {
  const segments = splitPath(path);
  if (segments.length < 3) return nonResource(path, method);
  const apiPrefix = segments[0] as string;
  let at = 1;
  let apiGroup = '';
  if (apiPrefix === 'apis') {
    if (segments.length < 4) return nonResource(path, method);
    apiGroup = segments[at++] as string;
  } else if (apiPrefix !== 'api') {
    return nonResource(path, method);
  }
  const apiVersion = segments[at++] as string;

  let verb = verbOfMethod[method] ?? '';
  let verbPrefix: RequestInfo['verbPrefix'] = '';
  const first = segments[at];
  if (first === 'watch' || first === 'proxy') {
    if (segments.length - at < 2) throw new RequestInfoError(`unable to determine kind and namespace from url, ${path}`);
    verb = first;
    verbPrefix = first;
    at += 1;
  }
  let namespace = '';
  let inNamespace = false;
  if (segments[at] === 'namespaces' && segments.length > at + 1) {
    namespace = segments[at + 1] as string;
    inNamespace = segments.length > at + 2 && !namespaceSubresources.has(segments[at + 2] as string);
    if (inNamespace) at += 2;
  }
  const parts = segments.slice(at);
  const subresource = verbPrefix === 'proxy' ? '' : (parts[2] ?? '');
  const name = parts[1] ?? '';
  let fieldSelector = '';
  let labelSelector = '';
  if (!name) {
    if (verb === 'get') verb = parseBoolean(parameters().get('watch')) ? 'watch' : 'list';
    else if (verb === 'delete') verb = 'deletecollection';
    if (verbPrefix === '' && verbsWithSelectors.has(verb)) {
      fieldSelector = parameters().get('fieldSelector') ?? '';
      labelSelector = parameters().get('labelSelector') ?? '';
    }
  }
  return {
    isResourceRequest: true,
    path,
    verb,
    apiPrefix,
    apiGroup,
    apiVersion,
    namespace,
    resource: parts[0] ?? '',
    subresource,
    name,
    parts,
    verbPrefix,
    inNamespace,
    fieldSelector,
    labelSelector,
  };
}

function splitPath(path: string): string[] {
  let start = 0;
  let end = path.length;
  while (start < end && path.charCodeAt(start) === 47) start += 1;
  while (end > start && path.charCodeAt(end - 1) === 47) end -= 1;
  return start === end ? [] : path.slice(start, end).split('/');
}

/**
 * Returns the name that authorization sees for a list or watch: that of a field selector `metadata.name=x`. Empty if there is none, or if a
 * list option is invalid: the handler rejects such a request. `parameters` are those of the query.
 */
export function* selectedName({ verb, fieldSelector }: RequestInfo, parameters: () => URLSearchParams): Steps<string> {
  if (fieldSelector === '' || (verb !== 'list' && verb !== 'watch')) return '';
  try {
    const { fields } = yield* readSelectors(decodeListOptions(parameters()));
    const name = fields.requiresExactMatch('metadata.name') ?? '';
    return name === '.' || name === '..' || /[/%]/.test(name) ? '' : name;
  } catch (error) {
    if (error instanceof StatusError) return '';
    throw error;
  }
}
