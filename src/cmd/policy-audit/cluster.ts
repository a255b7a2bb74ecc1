import { Buffer } from 'node:buffer';
import { setTimeout } from 'node:timers/promises';
import { newGenericServerResponse, StatusError } from '#apimachinery/api/errors';
import type { GroupVersionResource, KubeObject, Status } from '#apimachinery/meta/types';
import { parseGroupVersion } from '#apimachinery/meta/types';
import { parseJson } from '#apimachinery/runtime/json/json';
import type { Api, ApiRequest } from '#cmd/explain/api';

/** A resource that a cluster serves, in one version. */
export interface ClusterResource extends GroupVersionResource {
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
}

interface ResourceList {
  readonly resources?: readonly { readonly name: string; readonly kind: string; readonly namespaced: boolean; readonly verbs?: string[] }[];
}

interface GroupList {
  readonly groups?: readonly {
    readonly versions: readonly { readonly groupVersion: string }[];
    readonly preferredVersion?: { readonly groupVersion: string };
  }[];
}

interface Page {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly continue?: string };
  readonly items?: readonly KubeObject[] | null;
}

/** Objects in one chunk of a list. Upstream: client-go/tools/pager. */
const chunk = 500;

/** Maximum number of times that a request is repeated. */
const maxRetries = 10;

/** Reads the objects of any API server. */
export class Cluster {
  constructor(private readonly api: Api) {}

  /** Returns the JSON of a path. Rejects with the Status of the server. */
  async read<T>(path: string): Promise<T> {
    return this.send<T>({ method: 'GET', path });
  }

  /**
   * Sends a request, and repeats it if the answer has Retry-After, as while the cache of a new kind is not ready. Rejects with the Status
   * of the server. Upstream: client-go/rest/with_retry.go.
   */
  async send<T>(request: ApiRequest): Promise<T> {
    let answer = await this.api.ask(request);
    for (let retries = 0; retries < maxRetries && asksForRetry(answer); retries += 1) {
      await setTimeout(Number(answer.headers.get('retry-after')) * 1_000);
      answer = await this.api.ask(request);
    }
    const { status, text } = answer;
    if (status < 300) return parseJson(Buffer.from(text)).value as T;
    throw statusOf(text) ?? newGenericServerResponse(status, request.method, undefined, request.path);
  }

  /**
   * Returns all resources that can be listed and created, in every version: groups in the order of the server, the preferred version of a
   * group first. `report` receives the group versions that cannot be discovered, such as those of an extension server that is down.
   */
  async resources(report: (groupVersion: string, error: Error) => void): Promise<ClusterResource[]> {
    const { groups = [] } = await this.read<GroupList>('/apis');
    const versions = groups.flatMap(({ versions: all, preferredVersion }) =>
      all
        .map(({ groupVersion }) => groupVersion)
        .toSorted((a, b) => Number(b === preferredVersion?.groupVersion) - Number(a === preferredVersion?.groupVersion)),
    );
    const found: ClusterResource[] = [];
    for (const groupVersion of ['v1', ...versions]) {
      try {
        found.push(...(await this.#resourcesOf(groupVersion)));
      } catch (error) {
        report(groupVersion, error as Error);
      }
    }
    return found;
  }

  async #resourcesOf(groupVersion: string): Promise<ClusterResource[]> {
    const { resources = [] } = await this.read<ResourceList>(rootOf(parseGroupVersion(groupVersion)));
    return resources
      .filter(({ name, verbs = [] }) => !name.includes('/') && verbs.includes('list') && verbs.includes('create'))
      .map(({ name, kind, namespaced, verbs = [] }) => ({ ...parseGroupVersion(groupVersion), resource: name, kind, namespaced, verbs }));
  }

  /** Yields the objects of a resource, of one namespace or of all, in chunks. Rejects with the Status of the server. */
  async *objects(resource: GroupVersionResource, namespace = '', labelSelector = ''): AsyncGenerator<KubeObject> {
    let next: string | undefined;
    do {
      const { apiVersion, kind, metadata, items } = await this.#page(pathOf(resource, namespace), labelSelector, next);
      for (const item of items ?? [])
        yield { ...item, apiVersion: item.apiVersion ?? apiVersion, kind: item.kind ?? kind.replace(/List$/, '') };
      next = metadata.continue;
    } while (next);
  }

  /** Reads a chunk. If the token has expired meanwhile, the list continues with newer objects, as the server offers it. */
  async #page(path: string, labelSelector: string, token: string | undefined): Promise<Page> {
    const at = (from: string | undefined): string => {
      const query = { limit: `${chunk}`, ...(labelSelector && { labelSelector }), ...(from && { continue: from }) };
      return `${path}?${new URLSearchParams(query)}`;
    };
    try {
      return await this.read<Page>(at(token));
    } catch (error) {
      const renewed = error instanceof StatusError && error.status.code === 410 ? continueOf(error.status) : undefined;
      if (!renewed) throw error;
      return this.read<Page>(at(renewed));
    }
  }
}

/** Returns the path of a collection, or of an object. */
export function pathOf(resource: GroupVersionResource, namespace = '', name?: string): string {
  const parts = [...(namespace === '' ? [] : ['namespaces', namespace]), resource.resource, ...(name === undefined ? [] : [name])];
  return `${rootOf(resource)}/${parts.map(encodeURIComponent).join('/')}`;
}

function rootOf({ group, version }: Pick<GroupVersionResource, 'group' | 'version'>): string {
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
}

function asksForRetry({ status, headers }: { readonly status: number; readonly headers: Headers }): boolean {
  return (status === 429 || status >= 500) && /^\d+$/.test(headers.get('retry-after') ?? '');
}

function continueOf({ metadata }: Status): string | undefined {
  return (metadata as { readonly continue?: string } | undefined)?.continue;
}

function statusOf(text: string): StatusError | undefined {
  try {
    const { value } = parseJson(Buffer.from(text));
    return (value as { readonly kind?: unknown } | null)?.kind === 'Status' ? new StatusError(value as unknown as Status) : undefined;
  } catch {
    return undefined;
  }
}
