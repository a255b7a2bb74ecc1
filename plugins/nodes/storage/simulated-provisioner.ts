import {
  Controller,
  ControllerClient,
  EventRecorder,
  inject,
  isAlreadyExists,
  isNotFound,
  type KubeObject,
  type ReconcileRequest,
  type SharedInformer,
  SharedInformers,
  Watches,
} from 'kubenest/sdk';
import type { PersistentVolume, PersistentVolumeClaim } from 'kubenest/types/core_v1';
import type { StorageClass } from 'kubenest/types/storage_v1';
import { isDeletable, isSimulated, needsVolume, newVolume, wantedSize } from './simulated-volume.ts';
import { createStorageClasses, provisioner, storageClasses } from './storage-classes.ts';

const claims = { group: '', version: 'v1', resource: 'persistentvolumeclaims', kind: 'PersistentVolumeClaim' } as const;
const volumes = { group: '', version: 'v1', resource: 'persistentvolumes', kind: 'PersistentVolume' } as const;

/**
 * Provisioner of the simulated nodes: creates, grows and deletes volumes that have no data. A request without a namespace is a volume.
 * Upstream: sig-storage-lib-external-provisioner and external-resizer.
 */
@Controller({
  name: 'simulated-provisioner',
  component: provisioner,
  for: claims,
  lease: 'kubenest-nodes',
  events: 'v1',
  concurrency: 4,
  rules: [
    { apiGroups: [''], resources: ['persistentvolumes'], verbs: ['get', 'list', 'watch', 'create', 'delete', 'patch'] },
    { apiGroups: [''], resources: ['persistentvolumeclaims'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: [''], resources: ['persistentvolumeclaims/status'], verbs: ['patch'] },
    { apiGroups: ['storage.k8s.io'], resources: ['storageclasses'], verbs: ['get', 'list', 'watch', 'create'] },
    { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] },
  ],
})
export class SimulatedProvisioner {
  readonly #claims: SharedInformer<PersistentVolumeClaim>;
  readonly #volumes: SharedInformer<PersistentVolume>;
  readonly #classes: SharedInformer<StorageClass>;

  constructor(
    @inject(ControllerClient) private readonly client: ControllerClient,
    @inject(EventRecorder) private readonly recorder: EventRecorder,
    @inject(SharedInformers) informers: SharedInformers,
  ) {
    this.#claims = informers.for<PersistentVolumeClaim>(claims);
    this.#volumes = informers.for<PersistentVolume>(volumes);
    this.#classes = informers.for<StorageClass>(storageClasses);
  }

  async run(): Promise<void> {
    await createStorageClasses(this.client);
  }

  @Watches(volumes)
  *requestsOfVolume({ metadata: { name = '' } }: KubeObject): Iterable<ReconcileRequest> {
    yield { namespace: '', name };
  }

  async reconcile({ namespace, name }: ReconcileRequest): Promise<void> {
    if (!namespace) return this.#reconcileVolume(name);
    const claim = this.#claims.get(namespace, name);
    const storageClass = this.#classes.get('', claim?.spec?.storageClassName ?? '');
    if (claim && storageClass && needsVolume(claim, storageClass)) return this.#provision(claim, storageClass);
    const volume = claim && this.#volumes.get('', claim.spec?.volumeName ?? '');
    const size = volume && isSimulated(volume) ? wantedSize(claim) : undefined;
    if (claim && volume && size !== undefined) await this.#grow(claim, volume, size);
  }

  async #provision(claim: PersistentVolumeClaim, storageClass: StorageClass): Promise<void> {
    const volume = newVolume(claim, storageClass);
    const { namespace, name } = claim.metadata;
    if (this.#volumes.get('', volume.metadata.name ?? '')) return;
    const message = `External provisioner is provisioning volume for claim "${namespace}/${name}"`;
    this.recorder.event(claim, 'Normal', 'Provisioning', message);
    try {
      await this.client.create(volumes, volume);
    } catch (error) {
      if (isAlreadyExists(error)) return;
      const reason = (error as Error).message;
      const failure = `failed to provision volume with StorageClass "${storageClass.metadata.name}": ${reason}`;
      this.recorder.event(claim, 'Warning', 'ProvisioningFailed', failure);
      throw error;
    }
    this.recorder.event(claim, 'Normal', 'ProvisioningSucceeded', `Successfully provisioned volume ${volume.metadata.name}`);
  }

  async #grow(claim: PersistentVolumeClaim, volume: PersistentVolume, storage: string): Promise<void> {
    const { namespace = '', name = '' } = claim.metadata;
    const volumeName = volume.metadata.name ?? '';
    this.recorder.event(claim, 'Normal', 'Resizing', `External resizer is resizing volume ${volumeName}`);
    const capacity = { storage };
    await this.client.patch(volumes, '', volumeName, { type: 'merge', patch: { spec: { capacity } } });
    const status = { ...claims, subresource: 'status' };
    await this.client.patch(status, namespace, name, { type: 'merge', patch: { status: { capacity } } });
    this.recorder.event(claim, 'Normal', 'VolumeResizeSuccessful', 'Resize volume succeeded');
  }

  async #reconcileVolume(name: string): Promise<void> {
    const volume = this.#volumes.get('', name);
    if (!volume || !isDeletable(volume) || volume.metadata.deletionTimestamp) return;
    try {
      await this.client.remove(volumes, '', name, { preconditions: { uid: volume.metadata.uid } });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}
