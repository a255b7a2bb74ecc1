import type { Informer, Informers } from 'kubenest/sdk';
import type { CSIDriver, PersistentVolume, PersistentVolumeClaim } from 'kubenest/kinds';
import type { Pod, Volume } from '../../common/pod-walker.ts';

/** CSI drivers that replaced in-tree volume sources. Upstream: csi-translation-lib. */
const migratedDrivers = [
  ['gcePersistentDisk', 'pd.csi.storage.gke.io'],
  ['awsElasticBlockStore', 'ebs.csi.aws.com'],
  ['cinder', 'cinder.csi.openstack.org'],
  ['azureDisk', 'disk.csi.azure.com'],
  ['azureFile', 'file.csi.azure.com'],
  ['vsphereVolume', 'csi.vsphere.vmware.com'],
  ['portworxVolume', 'pxd.portworx.com'],
] as const;

/** Determines the audiences for which a pod's volumes need service account tokens. */
export class TokenAudiences {
  readonly #claims: Informer<PersistentVolumeClaim>;
  readonly #volumes: Informer<PersistentVolume>;
  readonly #drivers: Informer<CSIDriver>;

  constructor(informers: Informers) {
    this.#claims = informers.for({ group: '', resource: 'persistentvolumeclaims' });
    this.#volumes = informers.for({ group: '', resource: 'persistentvolumes' });
    this.#drivers = informers.for({ group: 'storage.k8s.io', resource: 'csidrivers' });
  }

  /**
   * True if the pod needs tokens for the audience (empty: the server itself). If nothing needs them, throws the errors that
   * prevented the check.
   */
  isNeeded(pod: Pod, audience: string): boolean {
    const problems: string[] = [];
    for (const volume of pod.spec.volumes ?? []) {
      const sources = volume.projected?.sources ?? [];
      if (sources.some(({ serviceAccountToken }) => serviceAccountToken && (serviceAccountToken.audience ?? '') === audience)) return true;
      try {
        if (this.#asksFor(this.#driverOf(pod, volume), audience)) return true;
      } catch (error) {
        problems.push((error as Error).message);
      }
    }
    if (problems.length > 0) throw new Error(problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`);
    return false;
  }

  #asksFor(driver: string | undefined, audience: string): boolean {
    if (!driver) return false;
    const found = this.#drivers.get('', driver);
    if (!found) throw new Error(`csidriver.storage.k8s.io "${driver}" not found`);
    return found.spec?.tokenRequests?.some((request) => (request.audience ?? '') === audience) ?? false;
  }

  #driverOf({ metadata }: Pod, volume: Volume): string | undefined {
    const namespace = metadata.namespace ?? '';
    if (volume.ephemeral?.volumeClaimTemplate) return this.#driverOfClaim(namespace, `${metadata.name}-${volume.name}`);
    const { persistentVolumeClaim: claim, csi } = volume;
    if (claim) return this.#driverOfClaim(namespace, claim.claimName ?? '');
    return csi ? csi.driver : migratedDriverOf(volume);
  }

  #driverOfClaim(namespace: string, name: string): string | undefined {
    const claim = this.#claims.get(namespace, name);
    if (!claim) throw new Error(`persistentvolumeclaim "${name}" not found`);
    const volumeName = claim.spec?.volumeName ?? '';
    const volume = this.#volumes.get('', volumeName);
    if (!volume) throw new Error(`persistentvolume "${volumeName}" not found`);
    return volume.spec?.csi?.driver ?? migratedDriverOf(volume.spec ?? {});
  }
}

function migratedDriverOf(sources: Partial<Record<(typeof migratedDrivers)[number][0], object>>): string | undefined {
  return migratedDrivers.find(([source]) => sources[source])?.[1];
}
