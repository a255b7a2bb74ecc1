import { EtcdClient } from './client.ts';
import { EtcdStorage, type EtcdStorageOptions, rootOf } from './etcd-storage.ts';
import { KineStorage } from './kine-storage.ts';

/** Opens the storage for the type of server found. Rejects with UnavailableError if no server is reachable. */
export async function openEtcdStorage(options: EtcdStorageOptions): Promise<EtcdStorage> {
  const client = new EtcdClient(options);
  try {
    const { header } = await client.range({ key: `${rootOf(options)}/`, limit: 1 });
    // Every etcd member has an id; kine reports 0.
    const Kind = header?.memberId === 0 ? KineStorage : EtcdStorage;
    return new Kind(client, options, header?.revision ?? 0);
  } catch (error) {
    client.close();
    throw error;
  }
}
