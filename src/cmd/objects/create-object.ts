import { setTimeout as sleep } from 'node:timers/promises';
import { type KubeObject, parseGroupVersion } from '#apimachinery/meta/types';
import { messageOf } from './status-message.ts';
import { discoveryPath, type ServedResource, servedResources } from './served-resources.ts';

/** A request to the server, as an administrator. */
export type Fetch = (path: string, request?: FetchRequest) => Promise<Response>;

interface FetchRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: object;
}

export interface CreateOptions {
  /** Namespace of an object that names none. Default: `default`. */
  readonly namespace?: string | undefined;
  /** Replaces an object that exists, such as the Namespace `default`. Otherwise the create fails. */
  readonly replaces?: boolean | undefined;
  /** Rejects unknown fields, which the server otherwise drops. */
  readonly isStrict?: boolean | undefined;
}

const establishedMs = 10_000;
const pollMs = 5;

interface DefinitionStatus {
  readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[];
}

/** An object that was created. */
export interface CreatedObject {
  readonly path: string;
  /** True if it replaced an object that existed. */
  readonly replaced: boolean;
}

/**
 * Creates an object of any served kind and its status, which a create alone would drop. Resolves when it takes effect: for a
 * CustomResourceDefinition, when objects of its kinds can be created. Rejects with the server's message.
 */
export async function createObject(
  fetch: Fetch,
  object: KubeObject & { readonly status?: object },
  { namespace = 'default', replaces = false, isStrict = false }: CreateOptions = {},
): Promise<CreatedObject> {
  const served = await servedAs(fetch, object);
  if (!served) throw new Error(`unknown kind ${object.kind} of ${object.apiVersion}: the server does not serve it`);
  const path = served.collection(object.metadata.namespace ?? namespace);
  const what = `${object.kind} ${object.metadata.name ?? ''}`;
  const query = isStrict ? '?fieldValidation=Strict' : '';
  const response = await fetch(`${path}${query}`, { body: withoutVersion(object) });
  const replaced = replaces && response.status === 409;
  const own = replaced
    ? await replace(fetch, `${path}/${object.metadata.name ?? ''}`, query, object)
    : `${path}/${(await succeed(response, `${what} was not created`)).metadata.name}`;
  if (isDefinition(object)) await whenEstablished(fetch, own);
  if (object.status !== undefined && served.hasStatus) await setStatus(fetch, own, object);
  return { path: own, replaced };
}

/** Returns the object without the resourceVersion of another server. */
function withoutVersion({ metadata: { resourceVersion: _, ...metadata }, ...object }: KubeObject): object {
  return { ...object, metadata };
}

async function replace(fetch: Fetch, path: string, query: string, object: KubeObject): Promise<string> {
  const { metadata } = await succeed<KubeObject>(await fetch(path), `${path} cannot be read`);
  const body = { ...object, metadata: { ...object.metadata, resourceVersion: metadata.resourceVersion } };
  await succeed(await fetch(`${path}${query}`, { method: 'PUT', body }), `${object.kind} ${path} was not replaced`);
  return path;
}

async function setStatus(fetch: Fetch, path: string, { kind, status }: KubeObject & { readonly status?: object }): Promise<void> {
  const headers = { 'content-type': 'application/merge-patch+json' };
  await succeed(await fetch(`${path}/status`, { method: 'PATCH', headers, body: { status } }), `the status of ${kind} ${path} was not set`);
}

/** Resolves when the versions of a definition are served. Rejects on a name conflict, or after a timeout. */
async function whenEstablished(fetch: Fetch, path: string): Promise<void> {
  const deadline = performance.now() + establishedMs;
  for (;;) {
    const definition = await succeed<Definition>(await fetch(path), `${path} cannot be read`);
    const condition = (type: string) => definition.status?.conditions?.find((one) => one.type === type);
    if (condition('NamesAccepted')?.status === 'False') throw new Error(`${path}: ${condition('NamesAccepted')?.message}`);
    if (condition('Established')?.status === 'True' && (await areServed(fetch, definition))) return;
    if (performance.now() > deadline) throw new Error(`${path} timed out after ${establishedMs} ms: not established`);
    await sleep(pollMs);
  }
}

interface Definition extends KubeObject {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly { readonly name: string; readonly served: boolean }[];
  };
  readonly status?: DefinitionStatus;
}

/** True if discovery lists all served versions of a definition. */
async function areServed(fetch: Fetch, { spec: { group, names, versions } }: Definition): Promise<boolean> {
  const kinds = versions.filter(({ served }) => served).map(({ name }) => ({ apiVersion: `${group}/${name}`, kind: names.kind }));
  const found = await Promise.all(kinds.map((kind) => servedAs(fetch, kind)));
  return found.every((one) => one !== undefined);
}

async function servedAs(fetch: Fetch, { apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>): Promise<ServedResource | undefined> {
  const response = await fetch(discoveryPath(apiVersion));
  if (!response.ok) return undefined;
  return servedResources(apiVersion, await response.text()).find((one) => one.kind === kind);
}

function isDefinition({ apiVersion, kind }: KubeObject): boolean {
  return kind === 'CustomResourceDefinition' && parseGroupVersion(apiVersion).group === 'apiextensions.k8s.io';
}

async function succeed<T extends KubeObject>(response: Response, what: string): Promise<T> {
  if (!response.ok) throw new Error(`${what}: ${messageOf(await response.text())}`);
  return (await response.json()) as T;
}
