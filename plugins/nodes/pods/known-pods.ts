import { keyOf, type SharedInformer } from 'kubenest/sdk';
import type { Pod } from 'kubenest/types/core_v1';
import { sharedKeys } from './shared-volumes.ts';

const byNode = 'node';
const byVolume = 'volume';

/** The pods of the cluster, by node, with listeners for single pods. */
export class KnownPods {
  readonly #listeners = new Map<string, Set<(pod: Pod | undefined) => void>>();

  constructor(private readonly informer: SharedInformer<Pod>) {
    informer.addIndex(byNode, ({ spec }) => (spec?.nodeName ? [spec.nodeName] : []));
    informer.addIndex(byVolume, sharedKeys);
  }

  get(namespace: string, name: string): Pod | undefined {
    return this.informer.get(namespace, name);
  }

  ofNode(node: string): Pod[] {
    return this.informer.byIndex(byNode, node);
  }

  /** Lists the pods that mount a volume which pods share. */
  ofVolume(key: string): Pod[] {
    return this.informer.byIndex(byVolume, key);
  }

  /** Calls back after each change of a pod, with undefined after its deletion. Dispose of the result to stop. */
  watch(namespace: string, name: string, changed: (pod: Pod | undefined) => void): Disposable {
    const key = `${namespace}/${name}`;
    const listeners = this.#listeners.get(key) ?? new Set();
    this.#listeners.set(key, listeners.add(changed));
    return {
      [Symbol.dispose]: () => {
        listeners.delete(changed);
        if (listeners.size === 0) this.#listeners.delete(key);
      },
    };
  }

  /** Passes a change on to the listeners of the pod. */
  changed(pod: Pod, isDeleted: boolean): void {
    for (const listener of this.#listeners.get(keyOf(pod)) ?? []) listener(isDeleted ? undefined : pod);
  }
}
