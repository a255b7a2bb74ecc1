import type { Informers, KubeObject } from 'kubenest/sdk';
import { type ObjectKey, objectKey, referencesOfPod, referencesOfVolume } from './references.ts';

interface Placed {
  readonly node: string;
  readonly keys: ReadonlySet<ObjectKey>;
}
interface Bound {
  readonly claim: ObjectKey;
  readonly secrets: readonly ObjectKey[];
}

/**
 * Graph of the objects that nodes may read, maintained from the server's pods, volumes, attachments and slices:
 *
 *     secret -> pod -> node          configmap, serviceaccount, claim -> pod -> node
 *     secret -> volume -> claim -> pod -> node          attachment -> node          slice, certificate request -> node
 *
 * References of pods are counted for each node (`#nodes`), so the lookup of a config map that every pod of a namespace
 * mounts does not visit the pods. Upstream: plugin/pkg/auth/authorizer/node/graph.go, graph_populator.go.
 */
export class NodeGraph {
  /** Node and references by pod. The counts of `#nodes` are exactly the sum of these. */
  readonly #pods = new Map<ObjectKey, Placed>();
  readonly #nodes = new Map<ObjectKey, Map<string, number>>();
  /** Claim and secrets by volume name. */
  readonly #volumes = new Map<string, Bound>();
  readonly #volumesOfSecret = new Map<ObjectKey, Set<string>>();
  readonly #subscriptions: Disposable[];

  /** `asksForCertificates` includes pod certificate requests. */
  constructor(informers: Informers, asksForCertificates: boolean) {
    const follow = (group: string, resource: string, set: (object: KubeObject) => void, remove: (object: KubeObject) => void): Disposable =>
      informers.for({ group, resource }).subscribe((type, object) => (type === 'DELETED' ? remove(object) : set(object)));
    const place = (kind: string, field: (object: KubeObject) => unknown): [(object: KubeObject) => void, (object: KubeObject) => void] => [
      (object) => {
        const node = field(object);
        const key = objectKey(kind, object.metadata.namespace ?? '', object.metadata.name ?? '');
        if (typeof node === 'string' && node !== '') this.#place(key, { node, keys: new Set([key]) });
        else this.#remove(key);
      },
      (object) => this.#remove(objectKey(kind, object.metadata.namespace ?? '', object.metadata.name ?? '')),
    ];
    const nodeName = (object: KubeObject): unknown => (object['spec'] as { nodeName?: unknown } | undefined)?.nodeName;
    this.#subscriptions = [
      follow(
        '',
        'pods',
        (pod) => this.#setPod(pod, nodeName(pod)),
        (pod) => this.#remove(podKey(pod)),
      ),
      follow(
        '',
        'persistentvolumes',
        (volume) => this.#setVolume(volume.metadata.name ?? '', referencesOfVolume(volume)),
        (volume) => this.#setVolume(volume.metadata.name ?? '', undefined),
      ),
      follow('storage.k8s.io', 'volumeattachments', ...place('volumeattachments', nodeName)),
      follow('resource.k8s.io', 'resourceslices', ...place('resourceslices', nodeName)),
      ...(asksForCertificates
        ? [follow('certificates.k8s.io', 'podcertificaterequests', ...place('podcertificaterequests', nodeName))]
        : []),
    ];
  }

  /** True if a path leads from the object to the node. `namespace` is empty for cluster-scoped objects. */
  reaches(node: string, resource: string, namespace: string, name: string): boolean {
    const key = objectKey(resource, namespace, name);
    if (this.#nodes.get(key)?.has(node)) return true;
    const volumes = resource === 'persistentvolumes' ? [name] : (this.#volumesOfSecret.get(key) ?? []);
    for (const volume of volumes) {
      const bound = this.#volumes.get(volume);
      if (bound && this.#nodes.get(bound.claim)?.has(node)) return true;
    }
    return false;
  }

  [Symbol.dispose](): void {
    for (const subscription of this.#subscriptions) subscription[Symbol.dispose]();
  }

  #setPod(pod: KubeObject, node: unknown): void {
    if (typeof node !== 'string' || node === '') return;
    const key = podKey(pod);
    this.#place(key, { node, keys: new Set([key, ...referencesOfPod(pod)]) });
  }

  #place(key: ObjectKey, placed: Placed): void {
    this.#remove(key);
    this.#pods.set(key, placed);
    for (const one of placed.keys) {
      const counts = this.#nodes.get(one) ?? new Map<string, number>();
      counts.set(placed.node, (counts.get(placed.node) ?? 0) + 1);
      this.#nodes.set(one, counts);
    }
  }

  #remove(key: ObjectKey): void {
    const placed = this.#pods.get(key);
    if (!placed) return;
    this.#pods.delete(key);
    for (const one of placed.keys) {
      const counts = this.#nodes.get(one);
      const left = (counts?.get(placed.node) ?? 0) - 1;
      if (left > 0) counts?.set(placed.node, left);
      else counts?.delete(placed.node);
      if (counts?.size === 0) this.#nodes.delete(one);
    }
  }

  #setVolume(name: string, bound: Bound | undefined): void {
    for (const secret of this.#volumes.get(name)?.secrets ?? []) {
      const volumes = this.#volumesOfSecret.get(secret);
      volumes?.delete(name);
      if (volumes?.size === 0) this.#volumesOfSecret.delete(secret);
    }
    if (!bound) {
      this.#volumes.delete(name);
      return;
    }
    this.#volumes.set(name, bound);
    for (const secret of bound.secrets) this.#volumesOfSecret.set(secret, (this.#volumesOfSecret.get(secret) ?? new Set()).add(name));
  }
}

function podKey({ metadata }: KubeObject): ObjectKey {
  return objectKey('pods', metadata.namespace ?? '', metadata.name ?? '');
}
