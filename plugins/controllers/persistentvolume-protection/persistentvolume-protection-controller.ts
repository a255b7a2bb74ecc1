import {
  addFinalizer,
  Controller,
  ControllerClient,
  deepCopy,
  inject,
  isConflict,
  type ReconcileRequest,
  type ReconcileResult,
  removeFinalizer,
  type SharedInformer,
  SharedInformers,
} from 'kubenest/sdk';
import type { PersistentVolume } from 'kubenest/types/core_v1';
import { asManager } from '../common/as-manager.ts';

const volumes = { group: '', version: 'v1', resource: 'persistentvolumes', kind: 'PersistentVolume', isClusterScoped: true } as const;
const finalizer = 'kubernetes.io/pv-protection';

/** Keeps bound volumes, by a finalizer. Upstream: pkg/controller/volume/pvprotection. */
@Controller({ name: 'persistentvolume-protection-controller', serviceAccount: 'pv-protection-controller', for: volumes, ...asManager })
export class PersistentVolumeProtectionController {
  readonly #volumes: SharedInformer<PersistentVolume>;

  constructor(
    @inject(ControllerClient) private readonly client: ControllerClient,
    @inject(SharedInformers) informers: SharedInformers,
  ) {
    this.#volumes = informers.for<PersistentVolume>(volumes);
  }

  async reconcile({ name }: ReconcileRequest): Promise<ReconcileResult> {
    const volume = this.#volumes.get('', name);
    if (!volume) return {};
    const isDeleted = volume.metadata.deletionTimestamp !== undefined;
    if (isDeleted && volume.status?.phase === 'Bound') return {};
    const copy = deepCopy(volume);
    const isChanged = isDeleted ? removeFinalizer(copy, finalizer) : addFinalizer(copy, finalizer);
    try {
      if (isChanged) await this.client.replace(volumes, copy);
      return {};
    } catch (error) {
      if (isConflict(error)) return { requeue: true };
      throw error;
    }
  }
}
