import { setTimeout as sleep } from 'node:timers/promises';
import { type KubeObject, parseGroupVersion } from '#apimachinery/meta/types';
import type { TestRequest } from './test-request.ts';

type Fetch = (path: string, request?: TestRequest) => Promise<Response>;

const establishedMs = 10_000;
const pollMs = 5;

/** REST path and scope of a kind. */
interface Served {
  readonly resource: string;
  readonly namespaced: boolean;
  readonly hasStatus: boolean;
}

interface DefinitionStatus {
  readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[];
}

/**
 * Creates an object of any served kind and its status, which a create alone would drop. Resolves when it takes effect: for a
 * CustomResourceDefinition, when objects of its kinds can be created. Rejects with the server's message.
 */
export async function createObject(fetch: Fetch, object: KubeObject & { readonly status?: object }): Promise<void> {
  const served = await servedAs(fetch, object);
  if (!served) throw new Error(`unknown kind ${object.kind} of ${object.apiVersion}: the server does not serve it`);
  const { resource, namespaced, hasStatus } = served;
  const root = rootOf(object.apiVersion);
  const path = namespaced ? `${root}/namespaces/${object.metadata.namespace ?? 'default'}/${resource}` : `${root}/${resource}`;
  const created = await succeed(fetch(path, { body: object }), `${object.kind} ${object.metadata.name ?? ''} was not created`);
  const own = `${path}/${created.metadata.name}`;
  if (isDefinition(object)) await whenEstablished(fetch, own);
  if (object.status !== undefined && hasStatus) await setStatus(fetch, own, object);
}

async function setStatus(fetch: Fetch, path: string, { kind, status }: KubeObject & { readonly status?: object }): Promise<void> {
  const headers = { 'content-type': 'application/merge-patch+json' };
  await succeed(fetch(`${path}/status`, { method: 'PATCH', headers, body: { status } }), `the status of ${kind} ${path} was not set`);
}

/** Resolves when the versions of a definition are served. Rejects on a name conflict, or after a timeout. */
async function whenEstablished(fetch: Fetch, path: string): Promise<void> {
  const deadline = performance.now() + establishedMs;
  for (;;) {
    const definition = await succeed<Definition>(fetch(path), `${path} cannot be read`);
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

async function servedAs(fetch: Fetch, { apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>): Promise<Served | undefined> {
  const response = await fetch(rootOf(apiVersion));
  if (!response.ok) return undefined;
  const { resources } = (await response.json()) as { readonly resources: readonly { name: string; kind: string; namespaced: boolean }[] };
  const found = resources.find((one) => one.kind === kind && !one.name.includes('/'));
  return (
    found && {
      resource: found.name,
      namespaced: found.namespaced,
      hasStatus: resources.some(({ name }) => name === `${found.name}/status`),
    }
  );
}

function rootOf(apiVersion: string): string {
  const { group, version } = parseGroupVersion(apiVersion);
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
}

function isDefinition({ apiVersion, kind }: KubeObject): boolean {
  return kind === 'CustomResourceDefinition' && parseGroupVersion(apiVersion).group === 'apiextensions.k8s.io';
}

async function succeed<T extends KubeObject>(asked: Promise<Response>, what: string): Promise<T> {
  const response = await asked;
  if (!response.ok) throw new Error(`${what}: ${await response.text()}`);
  return (await response.json()) as T;
}
