import { type ControllerClient, isConflict, isNotFound, type KubeObject, type SharedInformer } from 'kubenest/sdk';
import type { PersistentVolumeClaim, Pod } from 'kubenest/types/core_v1';
import { decideVolumes, type PodClaims, type VolumeDecision } from './filters/volume-binding.ts';
import type { NodeInfo } from './framework/node-info.ts';
import type { PodInfo } from './framework/pod-info.ts';
import { isBound } from './framework/volume-claims.ts';

const pods = { group: '', version: 'v1', resource: 'pods' } as const;
const claims = { group: '', version: 'v1', resource: 'persistentvolumeclaims' } as const;
const volumes = { group: '', version: 'v1', resource: 'persistentvolumes' } as const;
/** Upstream: VolumeBindingArgs.bindTimeoutSeconds. */
const bindTimeoutMs = 600_000;

/** Binds pods to the nodes that were chosen for them. Upstream: plugins/defaultbinder and plugins/volumebinding/binder.go. */
export class PodBinder {
  constructor(
    private readonly client: ControllerClient,
    private readonly claims: SharedInformer<PersistentVolumeClaim>,
    private readonly after: (ms: number, callback: () => void) => () => void,
  ) {}

  /** Binds a pod, after the volumes of its waiting claims. Rejects if the node is gone, or a volume is not bound in time. */
  async bind({ pod }: PodInfo, { node, name }: NodeInfo, waiting: PodClaims | undefined, signal: AbortSignal): Promise<void> {
    if (waiting && waiting.waiting.length > 0) {
      const decision = decideVolumes(waiting.waiting, node, waiting.cluster);
      if (!decision) throw new Error(`the volumes of pod ${pod.metadata.name} are no longer available on node ${name}`);
      await this.#prepareVolumes(decision, name);
      await this.#volumesBound(waiting.waiting, signal);
    }
    const { namespace, name: podName, uid } = pod.metadata;
    const binding = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { namespace, name: podName, uid },
      target: { kind: 'Node', name },
    } as KubeObject;
    await this.client.create({ ...pods, subresource: 'binding' }, binding);
  }

  /** Claims chosen volumes, and requests the others from provisioners. */
  async #prepareVolumes({ bindings, provisions }: VolumeDecision, node: string): Promise<void> {
    for (const { claim, volume } of bindings) {
      const { name, namespace, uid, resourceVersion } = claim.metadata;
      const claimRef = { kind: 'PersistentVolumeClaim', apiVersion: 'v1', name, namespace, uid, resourceVersion };
      const annotations = { 'pv.kubernetes.io/bound-by-controller': 'yes' };
      const metadata = { annotations, resourceVersion: volume.metadata.resourceVersion };
      await this.client.patch(volumes, '', volume.metadata.name ?? '', { type: 'merge', patch: { metadata, spec: { claimRef } } });
    }
    for (const { metadata } of provisions) {
      const annotations = { 'volume.kubernetes.io/selected-node': node };
      await this.client.patch(claims, metadata.namespace ?? '', metadata.name ?? '', {
        type: 'merge',
        patch: { metadata: { annotations } },
      });
    }
  }

  /** Resolves once the claims are bound. */
  #volumesBound(wanted: readonly PersistentVolumeClaim[], signal: AbortSignal): Promise<void> {
    const areBound = (): boolean =>
      wanted.every(({ metadata }) => {
        const claim = this.claims.get(metadata.namespace ?? '', metadata.name ?? '');
        return claim !== undefined && isBound(claim);
      });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const check = (): void => {
      if (areBound()) resolve();
    };
    const subscription = this.claims.handle({ updated: check, added: check });
    const cancel = this.after(bindTimeoutMs, () => reject(new Error('timed out waiting for the condition')));
    const abort = (): void => reject(new Error('the scheduler stops'));
    signal.addEventListener('abort', abort, { once: true });
    return promise.finally(() => {
      subscription[Symbol.dispose]();
      cancel();
      signal.removeEventListener('abort', abort);
    });
  }
}

/** True if a pod cannot be bound any more: it is gone, or it has a node already. */
export function isLost(error: unknown): boolean {
  return isNotFound(error) || isConflict(error);
}

/** True if the pod is bound, deleted or finished, and thus needs no node. */
export function needsNoNode({ metadata, spec, status }: Pod): boolean {
  return Boolean(spec?.nodeName) || metadata.deletionTimestamp !== undefined || status?.phase === 'Succeeded' || status?.phase === 'Failed';
}
