/** What a request is about, read from its method, path and query. Upstream: apiserver/pkg/endpoints/request/requestinfo.go. */
export interface RequestInfo {
  readonly isResourceRequest: boolean;
  /** The decoded path, without the query. */
  readonly path: string;
  /** The API verb (`get`, `list`, `watch`, `create`, …) of a resource request, else the method in lower case. */
  verb: string;
  readonly apiPrefix: string;
  readonly apiGroup: string;
  readonly apiVersion: string;
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  /** Empty for collections, except where a field selector names the one object. */
  name: string;
  /** The path's segments from the resource on. */
  readonly parts: readonly string[];
}

/** A path that no request info can be made of: upstream answers 500. */
export class RequestInfoError extends Error {}

const namespaceSubresources = new Set(['status', 'finalize']);
const verbOfMethod: Readonly<Record<string, string>> = {
  POST: 'create',
  GET: 'get',
  HEAD: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** A path that names no resource; both empty before one is read. */
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
});

/**
 * Reads every form of path: `/api/v1/namespaces/ns/pods/name/status`, `/apis/group/version/resource`, the deprecated
 * `/api/v1/watch/…`, and all others as non-resource requests. `query` is without its question mark.
 */
export function parseRequestInfo(method: string, path: string, query: string): RequestInfo {
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
  let special = false;
  const first = segments[at];
  if (first === 'watch' || first === 'proxy') {
    if (segments.length - at < 2) throw new RequestInfoError(`unable to determine kind and namespace from url, ${path}`);
    verb = first;
    special = true;
    at += 1;
  }
  let namespace = '';
  if (segments[at] === 'namespaces' && segments.length > at + 1) {
    namespace = segments[at + 1] as string;
    if (segments.length > at + 2 && !namespaceSubresources.has(segments[at + 2] as string)) at += 2;
  }
  const parts = segments.slice(at);
  let name = parts[1] ?? '';
  if (!name && !special) {
    if (verb === 'get') {
      verb = isWatch(query) ? 'watch' : 'list';
      name = nameOfFieldSelector(query);
    } else if (verb === 'delete') {
      verb = 'deletecollection';
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
    subresource: special ? '' : (parts[2] ?? ''),
    name,
    parts,
  };
}

function splitPath(path: string): string[] {
  let start = 0;
  let end = path.length;
  while (start < end && path.charCodeAt(start) === 47) start += 1;
  while (end > start && path.charCodeAt(end - 1) === 47) end -= 1;
  return start === end ? [] : path.slice(start, end).split('/');
}

/** `watch`, `watch=`, `watch=1` and `watch=true` mean yes, as Go's conversion of query values has it; `0` and `false` mean no. */
function isWatch(query: string): boolean {
  if (!query.includes('watch')) return false;
  const value = new URLSearchParams(query).get('watch');
  return value !== null && value.toLowerCase() !== 'false' && value !== '0';
}

/** `fieldSelector=metadata.name=x` names one object; authorization then sees its name. */
function nameOfFieldSelector(query: string): string {
  if (!query.includes('fieldSelector')) return '';
  const selector = new URLSearchParams(query).get('fieldSelector') ?? '';
  for (const term of selector.split(',')) {
    const match = /^metadata\.name={1,2}([^=!]+)$/.exec(term);
    if (match) {
      const name = match[1] as string;
      return name === '.' || name === '..' || /[/%]/.test(name) ? '' : name;
    }
  }
  return '';
}
