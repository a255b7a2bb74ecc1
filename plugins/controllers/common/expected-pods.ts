import { controllerOf, type Expectations, keyOf, type KubeObject, type SharedInformer } from 'kubenest/sdk';
import type { Pod } from 'kubenest/types/core_v1';

/**
 * Lowers the expectations, whose keys are the UIDs of the owners, as the informers report the pods of the owners, until the signal aborts.
 */
export function observePods(
  pods: SharedInformer<Pod>,
  owners: SharedInformer<KubeObject>,
  expectations: Expectations,
  signal: AbortSignal,
): Promise<void> {
  const deleted = (pod: Pod): void => {
    const owner = controllerOf(pod);
    if (owner) expectations.deleted(owner.uid, keyOf(pod));
  };
  const subscriptions = [
    pods.handle({
      added(pod) {
        if (pod.metadata.deletionTimestamp) return deleted(pod);
        const owner = controllerOf(pod);
        if (owner) expectations.created(owner.uid);
      },
      updated(pod) {
        if (pod.metadata.deletionTimestamp) deleted(pod);
      },
      deleted,
    }),
    owners.handle({ deleted: ({ metadata }) => expectations.forget(metadata.uid as string) }),
  ];
  return new Promise((resolve) => {
    const stop = (): void => {
      for (const subscription of subscriptions) subscription[Symbol.dispose]();
      resolve();
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
