import type { KubeObject } from 'kubenest/sdk';
import type { Pod } from 'kubenest/types/core_v1';

/** The part of a TestCluster that tests of workloads need. */
interface Cluster {
  fetch(path: string, init: object): Promise<Response>;
}

/** Requests of a test of workload controllers, which also plays the kubelet. */
export class Workloads {
  constructor(
    readonly cluster: Cluster,
    readonly namespace = 'default',
  ) {}

  path(collection: string, name = ''): string {
    const root = collection.includes('/') ? '/apis' : '/api/v1';
    const [group, resource] = collection.includes('/') ? splitLast(collection) : ['', collection];
    return `${root}${group && `/${group}`}/namespaces/${this.namespace}/${resource}${name && `/${name}`}`;
  }

  async create<T extends KubeObject>(collection: string, object: object): Promise<T> {
    return this.#request(this.path(collection), { body: object });
  }

  async get<T extends KubeObject>(collection: string, name: string): Promise<T> {
    return this.#request(this.path(collection, name), {});
  }

  async list<T extends KubeObject>(collection: string, labels = ''): Promise<T[]> {
    const query = labels && `?labelSelector=${encodeURIComponent(labels)}`;
    const { items } = await this.#request<{ items: T[] }>(this.path(collection) + query, {});
    return items.sort((a, b) => (a.metadata.name as string).localeCompare(b.metadata.name as string));
  }

  async patch<T extends KubeObject>(collection: string, name: string, body: object, subresource = ''): Promise<T> {
    const headers = { 'content-type': 'application/merge-patch+json' };
    return this.#request(this.path(collection, name) + (subresource && `/${subresource}`), { method: 'PATCH', headers, body });
  }

  async remove(collection: string, name: string, options: object = {}): Promise<void> {
    await this.#request(this.path(collection, name), { method: 'DELETE', body: options });
  }

  async pods(labels = ''): Promise<Pod[]> {
    return this.list('pods', labels);
  }

  /** Binds a pod to a node, as a scheduler would. */
  async bind({ metadata }: Pod, node: string): Promise<void> {
    await this.#request(`${this.path('pods', metadata.name)}/binding`, {
      body: { metadata: { name: metadata.name }, target: { kind: 'Node', name: node } },
    });
  }

  /** Sets the phase of a pod as a kubelet would; a running pod is ready. */
  async setPhase(pod: Pod, phase: 'Pending' | 'Running' | 'Succeeded' | 'Failed', more: object = {}): Promise<Pod> {
    const lastTransitionTime = new Date(Date.now() - 2_000).toISOString().replace(/\.\d+/, '');
    const conditions = [{ type: 'Ready', status: phase === 'Running' ? 'True' : 'False', lastTransitionTime }];
    return this.patch('pods', pod.metadata.name as string, { status: { phase, conditions, ...more } }, 'status');
  }

  /** Makes all pods with the labels that have no phase but Pending run. */
  async runAll(labels = ''): Promise<void> {
    for (const pod of await this.pods(labels))
      if (!pod.metadata.deletionTimestamp && pod.status?.phase === 'Pending') await this.setPhase(pod, 'Running');
  }

  /** Returns the events about an object, as `TYPE REASON: MESSAGE`, with random ends of names as `*`. */
  async events(name: string): Promise<string[]> {
    const events = await this.list<KubeObject & { type: string; reason: string; message: string; involvedObject: { name: string } }>(
      'events',
    );
    return events
      .filter(({ involvedObject }) => involvedObject.name === name)
      .sort((a, b) => (suffix(a) < suffix(b) ? -1 : 1))
      .map(({ type, reason, message }) => `${type} ${reason}: ${message.replaceAll(/(?<=-)[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, '*')}`);
  }

  async #request<T>(path: string, init: object): Promise<T> {
    const response = await this.cluster.fetch(path, init);
    const body = (await response.json()) as T & { message?: string };
    if (!response.ok) throw new Error(`${path}: ${body.message}`);
    return body;
  }
}

function splitLast(path: string): [string, string] {
  const slash = path.lastIndexOf('/');
  return [path.slice(0, slash), path.slice(slash + 1)];
}

function suffix({ metadata }: KubeObject): string {
  return (metadata.name as string).split('.').at(-1) as string;
}
