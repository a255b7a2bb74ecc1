/**
 * Requests in every form of path, valid and invalid, for users with all permissions and with all permissions in one
 * namespace.
 */

/** A resource in discovery. */
export interface ServedResource {
  /** `/api/v1` or `/apis/GROUP/VERSION`. */
  readonly root: string;
  readonly resource: string;
  readonly namespaced: boolean;
  readonly subresources: readonly string[];
}

export interface FormRequest {
  readonly user: 'admin' | 'one-namespace';
  readonly method: string;
  /** Path as sent, without the query. */
  readonly path: string;
}

/** The namespace in which the user `one-namespace` has all permissions, and another one. */
export const ownNamespace = 'forms-own';
export const otherNamespace = 'forms-other';
/** The name in every path. */
export const objectName = 'forms-object';

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
const users = ['admin', 'one-namespace'] as const;
const own = `namespaces/${ownNamespace}`;
const other = `namespaces/${otherNamespace}`;

function encodeFirst(text: string): string {
  return `%${text.charCodeAt(0).toString(16)}${text.slice(1)}`;
}

/** Returns paths with each subresource and without one. */
function pathsOf({ root, resource, subresources }: ServedResource): string[] {
  // For namespaces the object is the other namespace, which must not be accessible.
  const name = resource === 'namespaces' ? otherNamespace : objectName;
  const item = `${resource}/${name}`;
  const below = [
    ...[resource, item, `${own}/${resource}`, `${own}/${item}`, `${other}/${resource}`, `${other}/${item}`],
    ...[`${own}/${other}/${resource}`, `${own}/${other}/${item}`, `${own}/namespaces`, `${own}/${other}`],
    ...[`watch/${resource}`, `watch/${item}`, `watch/${own}/${resource}`, `watch/${own}/${item}`, `watch/${own}/${other}/${resource}`],
    ...[`watch/watch/${resource}`, `${own}/watch/${resource}`, `proxy/${item}`, `proxy/${own}/${item}`],
    ...[`${item}/extra`, `${own}/${item}/extra`, `${own}/${item}/extra/more`],
    ...[
      `/${resource}`,
      `${resource}//${name}`,
      `namespaces//${resource}`,
      `namespaces//${item}`,
      `${own}//${item}`,
      `${own}/${resource}/`,
      `${own}/${item}//`,
    ],
    ...[
      encodeFirst(resource),
      `${own}/${resource}%2f${name}`,
      `${own}%2f${resource}`,
      `namespaces/${ownNamespace}%2f..%2f${otherNamespace}/${item}`,
    ],
    ...[
      `${own}/../${otherNamespace}/${item}`,
      `${own}/${resource}/..`,
      `${own}/${resource}/.`,
      `${own}/%2e%2e/${otherNamespace}/${item}`,
      `${own}/${item}%00`,
    ],
    ...[resource.toUpperCase(), `Namespaces/${ownNamespace}/${item}`, `${own.toUpperCase()}/${item}`],
  ].map((path) => `${root}/${path}`);
  const ofSubresources = subresources.flatMap((subresource) =>
    [
      ...[`${item}/${subresource}`, `${own}/${item}/${subresource}`, `${other}/${item}/${subresource}`],
      ...[`${own}/${other}/${item}/${subresource}`, `${own}/${item}/${subresource}/extra`, `${item}/${subresource}/extra`],
      ...[
        `watch/${item}/${subresource}`,
        `watch/${own}/${item}/${subresource}`,
        `${own}/${resource}//${subresource}`,
        `${own}/${item}/${subresource}/`,
      ],
      ...[`${own}/${item}/${subresource.toUpperCase()}`, `${own}/${item}//${subresource}`, `${own}/${item}%2f${subresource}`],
    ].map((path) => `${root}/${path}`),
  );
  return [...below, ...ofSubresources];
}

/** Returns paths with an invalid prefix, for a few resources of each kind, because they do not depend on the resource. */
function frontsOf({ root, resource }: ServedResource): string[] {
  const rest = `${own}/${resource}`;
  return [
    `/${root}/${rest}`,
    `//${root}/${rest}`,
    `/%2f${root.slice(1)}/${rest}`,
    `${root.replace('/', '/%2f')}/${rest}`,
    `${root.replace(/^\/apis?/, '$&/')}/${rest}`,
    `${root}//${rest}`,
    `/x/..${root}/${rest}`,
    `/.${root}/${rest}`,
    `${root.toUpperCase()}/${rest}`,
    `${root.replace(/^\/api\//, '/apis//')}/${rest}`,
    `${root.replace(/^\/apis\/[^/]*\//, '/api/')}/${rest}`,
    `${root}/watch`,
    `${root}/proxy`,
    `${root}/watch/`,
  ];
}

/** Returns all requests, ordered by resource. */
export function requestsOf(resources: readonly ServedResource[]): FormRequest[] {
  const withFronts = new Set<string>();
  return resources.flatMap((served) => {
    const isFirst = !withFronts.has(served.root);
    withFronts.add(served.root);
    const paths = [...new Set([...pathsOf(served), ...(isFirst ? frontsOf(served) : [])])];
    return paths.flatMap((path) => methods.flatMap((method) => users.map((user) => ({ user, method, path }))));
  });
}

/** True if the one-namespace user must never succeed: no segment of the path is the user's namespace. */
export function isOutside({ user, path }: FormRequest): boolean {
  return user === 'one-namespace' && !path.toLowerCase().includes(ownNamespace);
}
