import { type ControllerClient, type EventRecorder, parseTime, type SharedInformer } from 'kubenest/sdk';
import type { PersistentVolume, PersistentVolumeClaim, Pod } from 'kubenest/types/core_v1';
import type { StorageClass } from 'kubenest/types/storage_v1';
import { isPodTerminal } from '../common/pods.ts';
import { storageClassOf } from '../../common/volume-claim.ts';
import { podsByClaim } from '../common/volume-claims.ts';
import {
  betaStorageProvisioner,
  bindCompleted,
  boundByController,
  hasAnnotation,
  selectedNode,
  storageProvisioner,
} from './annotations.ts';
import { bestMatch, isReservedFor, mismatchOf } from './match-volume.ts';
import { claims, type VolumeBinder } from './volume-binder.ts';

interface Objects {
  readonly volumes: SharedInformer<PersistentVolume>;
  readonly classes: SharedInformer<StorageClass>;
  readonly pods: SharedInformer<Pod>;
}

/** Decides about a claim. Upstream: syncClaim of pkg/controller/volume/persistentvolume/pv_controller.go. */
export class ClaimSync {
  constructor(
    private readonly objects: Objects,
    private readonly binder: VolumeBinder,
    private readonly client: ControllerClient,
    private readonly recorder: EventRecorder,
  ) {}

  async sync(claim: PersistentVolumeClaim): Promise<void> {
    if (hasAnnotation(claim, bindCompleted)) return this.#syncBound(claim);
    const name = claim.spec?.volumeName;
    return name ? this.#syncNamed(claim, name) : this.#syncUnnamed(claim);
  }

  /** A claim that any volume may fulfil. */
  async #syncUnnamed(claim: PersistentVolumeClaim): Promise<void> {
    const className = storageClassOf(claim);
    const isDelayed = this.objects.classes.get('', className)?.volumeBindingMode === 'WaitForFirstConsumer';
    const volume = bestMatch(claim, this.objects.volumes.list(), isDelayed);
    if (volume) return this.binder.bind(volume, claim);
    if (await this.#assignDefaultClass(claim)) return;
    if (isDelayed && !hasAnnotation(claim, selectedNode)) {
      this.#reportDelay(claim);
    } else if (className) {
      return this.#requestProvisioning(claim, className);
    } else {
      const message = 'no persistent volumes available for this claim and no storage class is set';
      this.recorder.event(claim, 'Normal', 'FailedBinding', message);
    }
    await this.binder.setClaimStatus(claim, 'Pending', undefined);
  }

  /** A claim that names its volume. */
  async #syncNamed(claim: PersistentVolumeClaim, name: string): Promise<void> {
    const volume = this.objects.volumes.get('', name);
    if (volume && isReservedFor(volume, claim)) return this.binder.bind(volume, claim);
    if (volume?.spec?.claimRef) {
      this.recorder.event(claim, 'Warning', 'FailedBinding', `volume "${name}" already bound to a different claim.`);
      if (hasAnnotation(claim, boundByController)) {
        const { namespace, name: other } = volume.spec.claimRef;
        const key = `${claim.metadata.namespace}/${claim.metadata.name}`;
        throw new Error(`invalid binding of claim "${key}" to volume "${name}": volume already claimed by "${namespace}/${other}"`);
      }
    } else if (volume) {
      const mismatch = mismatchOf(volume, claim);
      if (mismatch === undefined) return this.binder.bind(volume, claim);
      this.recorder.event(claim, 'Warning', 'VolumeMismatch', `Cannot bind to requested volume "${name}": ${mismatch}`);
    }
    await this.binder.setClaimStatus(claim, 'Pending', undefined);
  }

  async #syncBound(claim: PersistentVolumeClaim): Promise<void> {
    const name = claim.spec?.volumeName;
    const volume = name ? this.objects.volumes.get('', name) : undefined;
    if (volume && (!volume.spec?.claimRef || volume.spec.claimRef.uid === claim.metadata.uid)) return this.binder.bind(volume, claim);
    const lost = (reason: string, message: string): Promise<void> =>
      this.binder.setClaimPhaseWithEvent(claim, 'Lost', 'Warning', reason, message);
    if (!name) return lost('ClaimLost', 'Bound claim has lost reference to PersistentVolume. Data on the volume is lost!');
    if (!volume) return lost('ClaimLost', 'Bound claim has lost its PersistentVolume. Data on the volume is lost!');
    return lost('ClaimMisbound', 'Two claims are bound to the same volume, this one is bound incorrectly');
  }

  /** Sets the default class of a claim that was created without one. Returns false if there is no default class. */
  async #assignDefaultClass(claim: PersistentVolumeClaim): Promise<boolean> {
    const hasClass = hasAnnotation(claim, 'volume.beta.kubernetes.io/storage-class') || claim.spec?.storageClassName !== undefined;
    const storageClassName = hasClass ? undefined : defaultClass(this.objects.classes.list())?.metadata.name;
    if (storageClassName === undefined) return false;
    await this.client.replace(claims, { ...claim, spec: { ...claim.spec, storageClassName } });
    return true;
  }

  #reportDelay(claim: PersistentVolumeClaim): void {
    const { namespace, name } = claim.metadata;
    const waiting = this.objects.pods
      .byIndex(podsByClaim, `${namespace}/${name}`)
      .filter((pod) => !isPodTerminal(pod) && !pod.spec?.nodeName)
      .map(({ metadata }) => metadata.name);
    if (waiting.length === 0) {
      this.recorder.event(claim, 'Normal', 'WaitForFirstConsumer', 'waiting for first consumer to be created before binding');
    } else {
      const pods = waiting.length > 1 ? 'pods' : 'pod';
      this.recorder.event(claim, 'Normal', 'WaitForPodScheduled', `waiting for ${pods} ${waiting.join(',')} to be scheduled`);
    }
  }

  /** Requests a volume from the provisioner of the class. */
  async #requestProvisioning(claim: PersistentVolumeClaim, className: string): Promise<void> {
    const provisioner = this.objects.classes.get('', className)?.provisioner;
    const failed = (message: string): void => this.recorder.event(claim, 'Warning', 'ProvisioningFailed', message);
    if (provisioner === undefined) return failed(`storageclass.storage.k8s.io "${className}" not found`);
    if (provisioner.startsWith('kubernetes.io/')) return failed(`no volume plugin matched name: ${provisioner}`);
    const requested = await this.#setProvisioner(claim, provisioner);
    this.recorder.event(
      requested,
      'Normal',
      'ExternalProvisioning',
      `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system administrator. If ` +
        'volume creation is delayed, please verify that the provisioner is running and correctly registered.',
    );
  }

  async #setProvisioner(claim: PersistentVolumeClaim, provisioner: string): Promise<PersistentVolumeClaim> {
    if (claim.metadata.annotations?.[storageProvisioner] === provisioner) return claim;
    const annotations = { ...claim.metadata.annotations, [betaStorageProvisioner]: provisioner, [storageProvisioner]: provisioner };
    return this.client.replace(claims, { ...claim, metadata: { ...claim.metadata, annotations } });
  }
}

/** The default class: of several ones the newest, then the first by name. Upstream: pkg/volume/util.GetDefaultClass. */
export function defaultClass(classes: readonly StorageClass[]): StorageClass | undefined {
  const isDefault = ({ metadata: { annotations = {} } }: StorageClass): boolean =>
    annotations['storageclass.kubernetes.io/is-default-class'] === 'true' ||
    annotations['storageclass.beta.kubernetes.io/is-default-class'] === 'true';
  const created = ({ metadata }: StorageClass): number => parseTime(metadata.creationTimestamp ?? '1970-01-01T00:00:00Z');
  const name = ({ metadata }: StorageClass): string => metadata.name ?? '';
  return classes.filter(isDefault).sort((a, b) => created(b) - created(a) || (name(a) < name(b) ? -1 : 1))[0];
}
