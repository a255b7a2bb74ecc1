import type { GroupVersionKind, GroupVersionResource, KubeObject } from '#apimachinery/meta/types';
import type { Logger } from '#apiserver/base/logger';
import type { KindObjects, ServedKinds } from '#apiserver/registry/served-kinds';
import type { RestMapper, RestMapping } from '#apiserver/server/rest-mapper';
import type { ClusterApi } from './cluster-api.ts';
import type { ClusterInformer } from './cluster-informer.ts';
import type { ClusterInformers } from './cluster-informers.ts';

const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
/** Time after which the kinds are read again. */
const refreshMs = 300_000;
/** Shortest time between two reads because of an unknown kind. */
const againMs = 10_000;

interface DiscoveryList {
  readonly items?: readonly {
    readonly metadata?: { readonly name?: string };
    readonly versions?: readonly {
      readonly version: string;
      readonly resources?: readonly {
        readonly resource: string;
        readonly responseKind?: { readonly kind?: string };
        readonly scope: string;
      }[];
    }[];
  }[];
}

/** The kinds that a cluster serves, by discovery. They are read at the start, at intervals, and after a kind was not found. */
export class ClusterKinds implements RestMapper, ServedKinds, Disposable {
  #mappings: ReadonlyMap<string, readonly RestMapping[]> = new Map();
  #readAt = -Infinity;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly api: ClusterApi,
    private readonly informers: ClusterInformers,
    private readonly logger: Logger,
  ) {}

  /** Reads the kinds. Rejects if the cluster does not answer. */
  async start(): Promise<void> {
    await this.#read();
    this.#timer = setInterval(() => this.#readAgain(), refreshMs).unref();
  }

  resourcesOf(kind: GroupVersionKind): readonly RestMapping[] {
    const found = this.#mappings.get(keyOf(kind));
    if (!found && performance.now() - this.#readAt > againMs) this.#readAgain();
    return found ?? [];
  }

  find(kind: GroupVersionKind): KindObjects | undefined {
    const [mapping] = this.resourcesOf(kind);
    return mapping && new InformerObjects(this.informers.inVersion(mapping.resource), mapping.namespaced);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #readAgain(): void {
    this.#read().catch((error: unknown) =>
      this.logger.warn({ reason: (error as Error).message }, 'cannot read the kinds of the cluster; the previous ones remain in use'),
    );
  }

  async #read(): Promise<void> {
    this.#readAt = performance.now();
    const lists = await Promise.all(['/api', '/apis'].map((path) => this.api.client.read<DiscoveryList>(path, accept)));
    const mappings = new Map<string, RestMapping[]>();
    for (const { metadata, versions = [] } of lists.flatMap(({ items = [] }) => items)) {
      const group = metadata?.name ?? '';
      for (const { version, resources = [] } of versions)
        for (const { resource, responseKind, scope } of resources) {
          const found: GroupVersionResource = { group, version, resource };
          const key = keyOf({ group, version, kind: responseKind?.kind ?? '' });
          mappings.set(key, [...(mappings.get(key) ?? []), { resource: found, namespaced: scope === 'Namespaced' }]);
        }
    }
    this.#mappings = mappings;
  }
}

class InformerObjects implements KindObjects {
  constructor(
    private readonly informer: ClusterInformer,
    readonly namespaced: boolean,
  ) {}

  get ready(): boolean {
    return this.informer.isSynced;
  }

  whenReady(): Promise<void> {
    return this.informer.synced;
  }

  get(namespace: string, name: string): KubeObject | undefined {
    return this.informer.get(namespace, name);
  }

  list(namespace: string): KubeObject[] {
    return this.informer.list(namespace);
  }
}

function keyOf({ group, version, kind }: GroupVersionKind): string {
  return `${group}/${version}/${kind}`;
}
