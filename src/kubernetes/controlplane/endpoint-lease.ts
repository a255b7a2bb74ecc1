import { Buffer } from 'node:buffer';
import { nextGeneration } from '#apimachinery/meta/generation';
import type { KubeObject } from '#apimachinery/meta/types';
import { ConflictError, KeyExistsError } from '#apiserver/storage/errors';
import type { Storage } from '#apiserver/storage/storage';
import type { EndpointSubset } from '#kubernetes/schema/core_v1.gen';

const leaseSeconds = 15;

/** Content of a lease; undefined members are absent. */
export interface EndpointLease {
  readonly labels?: Readonly<Record<string, string>>;
  readonly subsets: readonly EndpointSubset[];
}

/** Writes an Endpoints object that the store deletes after 15 seconds, or renews it with the next generation. */
export async function renewEndpointLease(
  storage: Pick<Storage, 'get' | 'create' | 'update'>,
  key: string,
  { labels, subsets }: EndpointLease,
): Promise<void> {
  const lease = (generation: number) => () =>
    Buffer.from(`${JSON.stringify({ kind: 'Endpoints', apiVersion: 'v1', metadata: { generation, labels }, subsets })}\n`);
  for (;;) {
    const present = await storage.get(key);
    try {
      if (!present) await storage.create(key, lease(1), { ttlSeconds: leaseSeconds });
      else {
        const { metadata } = JSON.parse(present.value.toString()) as KubeObject;
        await storage.update(key, present.revision, lease(nextGeneration(metadata.generation)), { ttlSeconds: leaseSeconds });
      }
      return;
    } catch (error) {
      if (!(error instanceof ConflictError) && !(error instanceof KeyExistsError)) throw error;
    }
  }
}
