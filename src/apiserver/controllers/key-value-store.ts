import { isAlreadyExists } from '#apimachinery/api/errors';
import type { KubeObject } from '#apimachinery/meta/types';
import type { ObjectClient } from '#apiserver/registry/client';

/** Small persisted state of a controller, shared by all servers on the store: texts by key, together at most 1 MiB. */
export interface KeyValueStore {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string): Promise<void>;
  delete(key: string): Promise<void>;
}

export const KeyValueStore = Symbol.for('kubenest.KeyValueStore');

const configMaps = { group: '', version: 'v1', resource: 'configmaps' };
const namespace = 'kube-system';

/** Keeps the state in a ConfigMap of kube-system. Keys are those of ConfigMaps: letters, digits, `-`, `_` and `.`. */
export class ConfigMapStore implements KeyValueStore {
  readonly #name: string;

  /** `client` acts as the server, so that the controller needs no permission. */
  constructor(
    private readonly client: ObjectClient,
    controller: string,
  ) {
    this.#name = `kubenest-state-${controller}`;
  }

  async get(key: string): Promise<string | undefined> {
    return dataOf(await this.client.get(configMaps, namespace, this.#name))[key];
  }

  async set(key: string, value: string): Promise<void> {
    const changed = await this.#change((data) => ({ ...data, [key]: value }));
    if (changed) return;
    const metadata = { namespace, name: this.#name };
    try {
      await this.client.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { [key]: value } });
    } catch (error) {
      // Another server has created it meanwhile.
      if (!isAlreadyExists(error)) throw error;
      await this.#change((data) => ({ ...data, [key]: value }));
    }
  }

  async delete(key: string): Promise<void> {
    await this.#change(({ [key]: _, ...rest }) => rest);
  }

  /** Resolves with false if there is no ConfigMap yet. */
  async #change(change: (data: Data) => Data): Promise<boolean> {
    let exists = false;
    await this.client.update(configMaps, namespace, this.#name, (object) => {
      exists = true;
      return { ...object, data: change(dataOf(object)) };
    });
    return exists;
  }
}

type Data = Readonly<Record<string, string>>;

function dataOf(configMap: KubeObject | undefined): Data {
  return (configMap?.['data'] as Data | undefined) ?? {};
}
