import { isNotFound } from '#apimachinery/api/errors';
import type { KubeObject } from '#apimachinery/meta/types';
import type { Client, ClientTarget } from '#apiserver/registry/client';
import { type Cluster, pathOf } from './cluster.ts';

/** Client of plugins that reads the objects of the audited cluster and refuses to write. */
export function readingClient(cluster: Cluster): Client {
  const refuse = (): Promise<never> => Promise.reject(new Error('an audit does not write objects'));
  const client: Client = {
    async get<T extends KubeObject>(target: ClientTarget, namespace: string, name: string) {
      const path = pathOf(target, namespace, name);
      try {
        return await cluster.read<T>(target.subresource === undefined ? path : `${path}/${target.subresource}`);
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw error;
      }
    },
    async list<T extends KubeObject>(target: ClientTarget, namespace: string) {
      const objects: T[] = [];
      for await (const object of cluster.objects(target, namespace)) objects.push(object as T);
      return objects;
    },
    create: refuse,
    update: refuse,
    delete: refuse,
    asUser: () => client,
  };
  return client;
}
