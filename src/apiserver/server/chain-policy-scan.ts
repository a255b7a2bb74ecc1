import { type GroupVersionKind, groupVersionString, type KubeObject, parseGroupVersion } from '#apimachinery/meta/types';
import { paceOf } from '#apimachinery/runtime/pace';
import { inSteps, turnOfOthers } from '#apimachinery/runtime/steps';
import type { AdmissionChain } from '#apiserver/admission/admission-chain';
import { ObjectScan } from '#apiserver/admission/scan/object-scan';
import { reportKinds } from '#apiserver/admission/scan/policy-report';
import type { PolicyScan, ScannedObject, ScanProgress } from '#apiserver/admission/scan/policy-scan';
import type { ResourceEndpoint } from '#apiserver/endpoints/handlers/resource-endpoint';
import type { UserInfo } from '#apiserver/request/user-info';
import type { CachedObject } from '#apiserver/storage/cacher/cached-object';
import type { ApiServerTarget } from './api-server-target.ts';

/** Longest turn of a scan, in milliseconds. */
const turnMs = 4;
/** Resources besides parameters on which verdicts depend. */
const inputResources: ReadonlySet<string> = new Set([
  '/namespaces',
  '/limitranges',
  'node.k8s.io/runtimeclasses',
  'admissionregistration.k8s.io/validatingadmissionpolicies',
  'admissionregistration.k8s.io/validatingadmissionpolicybindings',
]);

interface WithParamKind extends KubeObject {
  readonly spec?: { readonly paramKind?: { readonly apiVersion?: string; readonly kind?: string } };
}

/** Scans the objects in the watch caches of the servers, whose endpoints change with custom resources. */
export class ChainPolicyScan implements PolicyScan {
  readonly #scan: ObjectScan;
  /** Number of the current plugins, which a reload replaces. */
  #generation = 0;
  #plugins: unknown;

  constructor(
    private readonly servers: readonly Pick<ApiServerTarget, 'endpoints'>[],
    private readonly chain: AdmissionChain,
    user: UserInfo,
  ) {
    this.#scan = new ObjectScan(chain, user);
  }

  async *objects(progress: ScanProgress, signal: AbortSignal): AsyncGenerator<ScannedObject> {
    const turn = new Turn();
    for (const [path, endpoint] of this.#stored()) {
      const { chunks } = await endpoint.store.cacher.list({ scope: endpoint.store.prefix(''), resourceVersion: '0' });
      const since = progress.get(path) ?? 0;
      let last = since;
      for (const { items } of chunks) {
        for (const cached of items) {
          if (cached.revision <= since) continue;
          if (signal.aborted) return;
          last = Math.max(last, cached.revision);
          const scanned = await this.#scanned(endpoint, cached);
          if (scanned) yield scanned;
          await turn.end();
        }
        await turn.end();
      }
      progress.set(path, last);
    }
  }

  /** Returns undefined for a record that cannot be read; the checks of the storage report those. */
  async #scanned(endpoint: ResourceEndpoint, cached: CachedObject): Promise<ScannedObject | undefined> {
    let object: KubeObject;
    try {
      if (!cached.isParsed) await inSteps(cached.parseSteps());
      object = cached.object;
    } catch {
      return undefined;
    }
    const { admission } = endpoint;
    const verdicts = await this.#scan.verdictsOn(admission, object, paceOf(cached.size));
    return { resource: admission.resource, object: identityOf(endpoint, object), verdicts };
  }

  isStored({ resource, object: { metadata } }: Pick<ScannedObject, 'resource' | 'object'>): boolean {
    for (const { endpoints } of this.servers) {
      const store = endpoints.get(`${resource.group}/${resource.version}`)?.get(resource.resource)?.endpoint.store;
      if (store) return store.cacher.peek(store.key(metadata.namespace ?? '', metadata.name ?? ''))?.object.metadata.uid === metadata.uid;
    }
    return false;
  }

  inputs(): string {
    if (this.#plugins !== this.chain.plugins) this.#generation += 1;
    this.#plugins = this.chain.plugins;
    const inputs = new Map<string, ResourceEndpoint>();
    const endpoints = [...this.#stored()];
    for (const [path, endpoint] of endpoints) {
      const { group, resource } = endpoint.admission.resource;
      if (inputResources.has(`${group}/${resource}`)) inputs.set(path, endpoint);
      if (resource !== 'validatingadmissionpolicies') continue;
      for (const kind of objectsOf(endpoint).flatMap(paramKindOf)) {
        const found = endpoints.find(([, { kind: own }]) => own.group === kind.group && own.kind === kind.kind);
        if (found) inputs.set(...found);
      }
    }
    const states = [...inputs].map(([path, endpoint]) => `${path} ${stateOf(endpoint)}`);
    return [`plugins ${this.#generation}`, `reports ${this.#servedReports()}`, ...states.toSorted()].join('\n');
  }

  /** Returns the resources of reports that are served. */
  #servedReports(): string[] {
    return Object.entries(reportKinds).flatMap(([group, { version, namespaced, cluster }]) =>
      [namespaced, cluster]
        .filter(({ resource }) => this.servers.some(({ endpoints }) => endpoints.get(`${group}/${version}`)?.has(resource)))
        .map(({ resource }) => `${group}/${resource}`),
    );
  }

  /** Yields one endpoint for each storage path, without those of reports. */
  *#stored(): Generator<[path: string, endpoint: ResourceEndpoint]> {
    const seen = new Set<string>();
    for (const { endpoints } of this.servers)
      for (const resources of endpoints.values())
        for (const { endpoint } of resources.values()) {
          const path = endpoint.definition.storagePath;
          if (path === undefined || endpoint.subresource !== '' || seen.has(path) || endpoint.kind.group in reportKinds) continue;
          seen.add(path);
          yield [path, endpoint];
        }
  }
}

/** A turn of the event loop that a scan may use. */
class Turn {
  #began = performance.now();

  /** Yields to the event loop if the time of the turn is used up. */
  async end(): Promise<void> {
    if (performance.now() - this.#began < turnMs) return;
    await turnOfOthers();
    this.#began = performance.now();
  }
}

function identityOf({ kind }: ResourceEndpoint, { metadata: { name, namespace, uid } }: KubeObject): KubeObject {
  return {
    apiVersion: groupVersionString(kind),
    kind: kind.kind,
    metadata: { ...(name && { name }), ...(namespace && { namespace }), ...(uid && { uid }) },
  };
}

function* cachedOf({ store }: ResourceEndpoint): Generator<{ readonly revision: number; readonly object: KubeObject }> {
  const list = store.cacher.list({ scope: store.prefix(''), resourceVersion: '0' });
  if (!(list instanceof Promise)) for (const { items } of list.chunks) yield* items;
}

function objectsOf(endpoint: ResourceEndpoint): KubeObject[] {
  return [...cachedOf(endpoint)].map(({ object }) => object);
}

/** Returns the number of a resource's objects and their highest revision, which differ after each write. */
function stateOf(endpoint: ResourceEndpoint): string {
  let count = 0;
  let last = 0;
  for (const { revision } of cachedOf(endpoint)) {
    count += 1;
    last = Math.max(last, revision);
  }
  return `${count} ${last}`;
}

function paramKindOf(policy: KubeObject): GroupVersionKind[] {
  const { apiVersion, kind } = (policy as WithParamKind).spec?.paramKind ?? {};
  return apiVersion && kind ? [{ ...parseGroupVersion(apiVersion), kind }] : [];
}
