import { EtcdClient } from './client.ts';
import { EtcdStorage, type EtcdStorageOptions, rootOf } from './etcd-storage.ts';
import { KineStorage } from './kine-storage.ts';

/** The store in what answers at the servers. Rejects with UnavailableError where none does. */
export async function openEtcdStorage(options: EtcdStorageOptions): Promise<EtcdStorage> {
  const client = new EtcdClient(options);
  try {
    const { header } = await client.range({ key: `${rootOf(options)}/`, limit: 1 });
    // Each etcd has an id, and tells it.
    const Kind = header?.memberId === 0 ? KineStorage : EtcdStorage;
    return new Kind(client, options, header?.revision ?? 0);
  } catch (error) {
    client.close();
    throw error;
  }
}
