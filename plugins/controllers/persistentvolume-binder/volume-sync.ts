import type { ControllerClient, EventRecorder, SharedInformer } from 'kubenest/sdk';
import type { PersistentVolume, PersistentVolumeClaim } from 'kubenest/types/core_v1';
import { hasAnnotation, migratedTo, provisionedBy } from './annotations.ts';
import { hasVolumeModeOf } from './match-volume.ts';
import { claims, volumes, type VolumeBinder } from './volume-binder.ts';

/** Decides about a volume. Upstream: syncVolume of pkg/controller/volume/persistentvolume/pv_controller.go. */
export class VolumeSync {
  constructor(
    private readonly claims: SharedInformer<PersistentVolumeClaim>,
    private readonly binder: VolumeBinder,
    private readonly client: ControllerClient,
    private readonly recorder: EventRecorder,
  ) {}

  /** Returns the claim that has to be reconciled next, if any. */
  async sync(volume: PersistentVolume): Promise<PersistentVolumeClaim | undefined> {
    const claimRef = volume.spec?.claimRef;
    if (!claimRef?.uid) {
      await this.binder.setVolumePhase(volume, 'Available');
      return undefined;
    }
    const claim = await this.#claimOf(volume);
    const volumeName = claim?.spec?.volumeName;
    if (claim && !volumeName) return this.#isBindable(volume, claim) ? claim : undefined;
    if (claim && volumeName === volume.metadata.name) await this.binder.setVolumePhase(volume, 'Bound');
    else if (!claim || isDisposable(volume)) await this.#release(volume);
    else await this.binder.unbind(volume);
    return undefined;
  }

  /**
   * Returns the claim that a volume is bound to. The informer may be older than the volume, therefore the server decides that it is gone.
   */
  async #claimOf(volume: PersistentVolume): Promise<PersistentVolumeClaim | undefined> {
    const { namespace = '', name = '', uid } = volume.spec?.claimRef ?? {};
    const known = this.claims.get(namespace, name);
    if (known?.metadata.uid === uid) return known;
    if (!known && isReleased(volume)) return undefined;
    const stored = await this.client.get<PersistentVolumeClaim>(claims, namespace, name);
    return stored?.metadata.uid === uid ? stored : undefined;
  }

  #isBindable(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
    if (hasVolumeModeOf(volume, claim)) return true;
    const mismatch = (about: PersistentVolume | PersistentVolumeClaim, text: string): void =>
      this.recorder.event(about, 'Warning', 'VolumeMismatch', `${text} due to incompatible volumeMode.`);
    mismatch(volume, `Cannot bind PersistentVolume to requested PersistentVolumeClaim "${claim.metadata.name}"`);
    mismatch(claim, `Cannot bind PersistentVolume "${volume.metadata.name}" to requested PersistentVolumeClaim`);
    return false;
  }

  async #release(volume: PersistentVolume): Promise<void> {
    const released = isReleased(volume) ? volume : await this.binder.setVolumePhase(volume, 'Released');
    if (!hasAnnotation(released, migratedTo)) await this.#reclaim(released);
  }

  /**
   * Applies the reclaim policy. Volumes of external provisioners are left to them; the server itself has no recyclers, and there is nothing
   * to delete of a hostPath volume but its object.
   */
  async #reclaim(volume: PersistentVolume): Promise<void> {
    switch (volume.spec?.persistentVolumeReclaimPolicy) {
      case 'Retain':
        return;
      case 'Recycle':
        return this.binder.failVolume(volume, 'VolumeFailedRecycle', 'No recycler plugin found for the volume!');
      case 'Delete': {
        const problem = deletionProblem(volume);
        if (problem !== undefined) return this.binder.failVolume(volume, 'VolumeFailedDelete', problem);
        const { name = '', uid } = volume.metadata;
        if (!isOfExternalDeleter(volume)) await this.client.remove(volumes, '', name, { preconditions: { uid } });
        return;
      }
      default:
        return this.binder.failVolume(volume, 'VolumeUnknownReclaimPolicy', 'Volume has unrecognized PersistentVolumeReclaimPolicy');
    }
  }
}

const isReleased = ({ status }: PersistentVolume): boolean => status?.phase === 'Released' || status?.phase === 'Failed';

/** True if the volume was created for a claim that got another one. */
function isDisposable(volume: PersistentVolume): boolean {
  return hasAnnotation(volume, provisionedBy) && volume.spec?.persistentVolumeReclaimPolicy === 'Delete';
}

function isOfExternalDeleter({ metadata, spec }: PersistentVolume): boolean {
  return Boolean(metadata.annotations?.[provisionedBy]) || spec?.csi !== undefined;
}

/** Returns why the server cannot delete a volume. Upstream: findDeletablePlugin, and the deleter of pkg/volume/hostpath. */
function deletionProblem(volume: PersistentVolume): string | undefined {
  const { metadata, spec = {} } = volume;
  const plugin = metadata.annotations?.[provisionedBy];
  if (plugin?.startsWith('kubernetes.io/') && !spec.hostPath) return `no volume plugin matched name: ${plugin}`;
  if (isOfExternalDeleter(volume)) return undefined;
  if (!spec.hostPath) return `error getting deleter volume plugin for volume "${metadata.name}": no deletable volume plugin matched`;
  const { path = '' } = spec.hostPath;
  return /^\/tmp\/.+/.test(path) ? undefined : `host_path deleter only supports /tmp/.+ but received provided ${path}`;
}
