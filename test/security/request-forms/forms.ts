/** Requests in every form of path that a resource can and cannot have, for users who may do everything or everything in one namespace. */

/** A resource as discovery lists it. */
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
  /** As it is sent, without the query. */
  readonly path: string;
}

/** The namespace in which the user `one-namespace` may do everything, and another one. */
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

/** Paths with each subresource, or without one. */
function pathsOf({ root, resource, subresources }: ServedResource): string[] {
  // Of the namespaces themselves the object is the other namespace: what must not be reached.
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

/** Paths with a wrong front, for a few resources of each kind: they do not depend on the resource. */
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

/** All requests, in the order of the resources. */
export function requestsOf(resources: readonly ServedResource[]): FormRequest[] {
  const withFronts = new Set<string>();
  return resources.flatMap((served) => {
    const isFirst = !withFronts.has(served.root);
    withFronts.add(served.root);
    const paths = [...new Set([...pathsOf(served), ...(isFirst ? frontsOf(served) : [])])];
    return paths.flatMap((path) => methods.flatMap((method) => users.map((user) => ({ user, method, path }))));
  });
}

/** True if the one-namespace user may never succeed with it: no part of the path is its own namespace. */
export function isOutside({ user, path }: FormRequest): boolean {
  return user === 'one-namespace' && !path.toLowerCase().includes(ownNamespace);
}
