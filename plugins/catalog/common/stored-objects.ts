import type { Client, GroupResource, GroupVersionResource, Informer, Informers, KubeObject } from 'kubenest/sdk';

/**
 * Reads objects from the server's cache, and from the cluster those that the cache does not have yet. The informers also let
 * `kubenest webhook manifests` grant the access.
 */
export class StoredObjects {
  readonly #sources: readonly { readonly resource: GroupVersionResource; readonly informer: Informer }[];

  constructor(
    informers: Informers,
    private readonly client: Client,
    resources: readonly GroupVersionResource[],
  ) {
    this.#sources = resources.map((resource) => ({ resource, informer: informers.for(resource) }));
  }

  async get({ group, resource }: GroupResource, namespace: string, name: string): Promise<KubeObject | undefined> {
    const source = this.#sources.find((one) => one.resource.group === group && one.resource.resource === resource);
    return source && (source.informer.get(namespace, name) ?? (await this.client.get(source.resource, namespace, name)));
  }
}
