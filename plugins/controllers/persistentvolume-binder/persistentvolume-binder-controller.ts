import {
  Controller,
  ControllerClient,
  EventRecorder,
  inject,
  isConflict,
  type KubeObject,
  type ReconcileRequest,
  type ReconcileResult,
  RequestQueue,
  type SharedInformer,
  SharedInformers,
  Watches,
} from 'kubenest/sdk';
import type { PersistentVolume, PersistentVolumeClaim, Pod } from 'kubenest/types/core_v1';
import type { StorageClass } from 'kubenest/types/storage_v1';
import { asManager } from '../common/as-manager.ts';
import { storageClassOf } from '../../common/volume-claim.ts';
import { indexPodsByClaim } from '../common/volume-claims.ts';
import { bindCompleted, hasAnnotation } from './annotations.ts';
import { ClaimSync } from './claim-sync.ts';
import { claims, VolumeBinder, volumes } from './volume-binder.ts';
import { VolumeSync } from './volume-sync.ts';

const storageClasses = { group: 'storage.k8s.io', resource: 'storageclasses' };
/** Upstream: --pvclaimbinder-sync-period. */
const resyncPeriodMs = 15_000;

/**
 * Binds claims and volumes to each other, and reclaims volumes. One queue has both kinds: a request without a namespace is a volume.
 * Upstream: pkg/controller/volume/persistentvolume.
 */
@Controller({
  name: 'persistentvolume-binder-controller',
  serviceAccount: 'persistent-volume-binder',
  component: 'persistentvolume-controller',
  for: claims,
  ...asManager,
})
export class PersistentVolumeBinderController {
  readonly #claims: SharedInformer<PersistentVolumeClaim>;
  readonly #volumes: SharedInformer<PersistentVolume>;
  readonly #claimSync: ClaimSync;
  readonly #volumeSync: VolumeSync;

  constructor(
    @inject(ControllerClient) client: ControllerClient,
    @inject(EventRecorder) recorder: EventRecorder,
    @inject(RequestQueue) private readonly queue: RequestQueue,
    @inject(SharedInformers) informers: SharedInformers,
  ) {
    this.#claims = informers.for<PersistentVolumeClaim>(claims);
    this.#volumes = informers.for<PersistentVolume>(volumes);
    const pods = informers.for<Pod>({ group: '', resource: 'pods' });
    indexPodsByClaim(pods);
    const binder = new VolumeBinder(client, recorder);
    const objects = { volumes: this.#volumes, classes: informers.for<StorageClass>(storageClasses), pods };
    this.#claimSync = new ClaimSync(objects, binder, client, recorder);
    this.#volumeSync = new VolumeSync(this.#claims, binder, client, recorder);
  }

  /** The volume itself, and the claims that it may fulfil once it is available, or that lose it. */
  @Watches(volumes)
  *requestsOfVolume(volume: PersistentVolume, old: PersistentVolume | undefined): Iterable<ReconcileRequest> {
    const { metadata, spec, status } = volume;
    yield { namespace: '', name: metadata.name ?? '' };
    const { namespace = '', name = '' } = spec?.claimRef ?? {};
    if (name) yield { namespace, name };
    const isNewlyAvailable = status?.phase === 'Available' && old?.status?.phase !== 'Available';
    if (!isNewlyAvailable || name) return;
    yield* this.#unboundClaims((claim) => storageClassOf(claim) === storageClassOf(volume));
  }

  /** The volume of a claim that is deleted, or changes. */
  @Watches(claims)
  *volumeOfClaim({ spec }: PersistentVolumeClaim): Iterable<ReconcileRequest> {
    const { volumeName } = spec ?? {};
    if (volumeName) yield { namespace: '', name: volumeName };
  }

  /** Claims of a class that appears or changes, and those without a class, which may get it. */
  @Watches(storageClasses)
  requestsOfClass({ metadata: { name } }: KubeObject): Iterable<ReconcileRequest> {
    return this.#unboundClaims((claim) => storageClassOf(claim) === name || storageClassOf(claim) === '');
  }

  *#unboundClaims(isAffected: (claim: PersistentVolumeClaim) => boolean): Iterable<ReconcileRequest> {
    for (const claim of this.#claims.list()) {
      const { namespace = '', name = '' } = claim.metadata;
      if (!hasAnnotation(claim, bindCompleted) && isAffected(claim)) yield { namespace, name };
    }
  }

  async reconcile({ namespace, name }: ReconcileRequest): Promise<ReconcileResult> {
    try {
      return namespace ? await this.#reconcileClaim(namespace, name) : await this.#reconcileVolume(name);
    } catch (error) {
      // The informer is older than the store. The newer state is on its way.
      if (isConflict(error)) return { requeue: true };
      throw error;
    }
  }

  async #reconcileClaim(namespace: string, name: string): Promise<ReconcileResult> {
    const claim = this.#claims.get(namespace, name);
    if (!claim) return {};
    await this.#claimSync.sync(claim);
    return hasAnnotation(claim, bindCompleted) ? {} : { requeueAfterMs: resyncPeriodMs };
  }

  async #reconcileVolume(name: string): Promise<ReconcileResult> {
    const volume = this.#volumes.get('', name);
    const claim = volume && (await this.#volumeSync.sync(volume));
    if (claim) this.queue.add({ namespace: claim.metadata.namespace ?? '', name: claim.metadata.name ?? '' });
    return {};
  }
}
