import {
  addFinalizer,
  Controller,
  ControllerClient,
  deepCopy,
  hasFinalizer,
  inject,
  isConflict,
  type ReconcileRequest,
  type ReconcileResult,
  removeFinalizer,
  type SharedInformer,
  SharedInformers,
  Watches,
} from 'kubenest/sdk';
import type { PersistentVolumeClaim, Pod } from 'kubenest/types/core_v1';
import { asManager } from '../common/as-manager.ts';
import { isPodTerminal, pods } from '../common/pods.ts';
import { claimNames } from '../../common/pod-claims.ts';
import { indexPodsByClaim, isClaimOfPod, podsByClaim } from '../common/volume-claims.ts';

const claims = { group: '', version: 'v1', resource: 'persistentvolumeclaims', kind: 'PersistentVolumeClaim' } as const;
const finalizer = 'kubernetes.io/pvc-protection';

/** Keeps claims that pods on nodes use, by a finalizer. Upstream: pkg/controller/volume/pvcprotection. */
@Controller({
  name: 'persistentvolumeclaim-protection-controller',
  serviceAccount: 'pvc-protection-controller',
  for: claims,
  filter: ({ metadata }) => metadata.deletionTimestamp !== undefined || !metadata.finalizers?.includes(finalizer),
  ...asManager,
})
export class PersistentVolumeClaimProtectionController {
  readonly #claims: SharedInformer<PersistentVolumeClaim>;
  readonly #pods: SharedInformer<Pod>;

  constructor(
    @inject(ControllerClient) private readonly client: ControllerClient,
    @inject(SharedInformers) informers: SharedInformers,
  ) {
    this.#claims = informers.for<PersistentVolumeClaim>(claims);
    this.#pods = informers.for<Pod>(pods);
    indexPodsByClaim(this.#pods);
  }

  /** The claims of pods that are gone, have ended, or are on no node; others keep their claims. */
  @Watches(pods)
  *requestsOfPod(pod: Pod): Iterable<ReconcileRequest> {
    const { namespace = '', name = '' } = pod.metadata;
    const isPresent = this.#pods.get(namespace, name)?.metadata.uid === pod.metadata.uid;
    if (isPresent && !isPodTerminal(pod) && !isShutDown(pod) && pod.spec?.nodeName) return;
    for (const claim of claimNames(pod)) yield { namespace, name: claim };
  }

  async reconcile({ namespace, name }: ReconcileRequest): Promise<ReconcileResult> {
    const claim = this.#claims.get(namespace, name);
    if (!claim) return {};
    try {
      if (!claim.metadata.deletionTimestamp) await this.#change(claim, addFinalizer);
      else if (hasFinalizer(claim, finalizer) && !(await this.#isUsed(claim))) await this.#change(claim, removeFinalizer);
      return {};
    } catch (error) {
      if (isConflict(error)) return { requeue: true };
      throw error;
    }
  }

  async #change(claim: PersistentVolumeClaim, change: typeof addFinalizer): Promise<void> {
    const copy = deepCopy(claim);
    if (change(copy, finalizer)) await this.client.replace(claims, copy);
  }

  /** The informer may not know a pod yet, therefore the server is queried, too, before the finalizer of a claim is removed. */
  async #isUsed(claim: PersistentVolumeClaim): Promise<boolean> {
    const { namespace = '', name } = claim.metadata;
    const known = this.#pods.byIndex(podsByClaim, `${namespace}/${name}`);
    if (known.some((pod) => usesClaim(pod, claim))) return true;
    return (await this.client.list<Pod>(pods, namespace)).some((pod) => usesClaim(pod, claim));
  }
}

/** True if the kubelet of the pod may still use the claim. Upstream: podUsesPVCForDeletion. */
function usesClaim(pod: Pod, claim: PersistentVolumeClaim): boolean {
  if (!pod.spec?.nodeName) return false;
  const { name } = claim.metadata;
  return (pod.spec.volumes ?? []).some(({ persistentVolumeClaim, ephemeral, name: volume }) => {
    if (persistentVolumeClaim) return persistentVolumeClaim.claimName === name;
    return ephemeral !== undefined && !isShutDown(pod) && `${pod.metadata.name}-${volume}` === name && isClaimOfPod(claim, pod);
  });
}

/** True if the kubelet is done with the pod, or it was deleted without a grace period. */
function isShutDown({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0;
}
