import type { PersistentVolumeClaim, Pod } from 'kubenest/types/core_v1';
import type { CSINode } from 'kubenest/types/storage_v1';
import { claimNameOf } from '../../common/pod-claims.ts';
import { type ClusterView, type Filter, unresolvable, unschedulable } from '../framework/framework.ts';

interface State {
  /** Volumes of the pod: driver by unique name. */
  readonly volumes: Volumes;
  readonly cluster: ClusterView;
}

/** The driver of each volume by `driver/handle`. */
type Volumes = ReadonlyMap<string, string>;

/**
 * Rejects nodes on which the volumes of the pod would exceed the number that a CSI driver can attach according to CSINode. Volumes of
 * drivers in the tree, which upstream counts for the CSI drivers that replaced them, are not counted. Upstream: plugins/nodevolumelimits.
 */
export const nodeVolumeLimits: Filter<State> = {
  name: 'NodeVolumeLimits',
  events: ['PodDeleted', 'StorageChanged', 'VolumeLimitsChanged'],

  prepare({ pod, namespace }, cluster) {
    const names = (pod.spec?.volumes ?? []).flatMap((volume) => claimNameOf(pod, volume) ?? []);
    const missing = names.find((name) => !cluster.claim(namespace, name));
    if (missing !== undefined) {
      const reason = `persistentvolumeclaim ${JSON.stringify(missing)} not found`;
      return { rejection: unresolvable(`looking up PVC ${namespace}/${missing}: ${reason}`) };
    }
    const volumes = volumesOf(pod, cluster);
    return volumes.size === 0 ? 'skip' : { state: { volumes, cluster } };
  },

  check({ volumes, cluster }, _, { name, pods }) {
    const limits = limitsOf(cluster.csiNode(name));
    if (limits.size === 0) return undefined;
    const inUse = new Map([...pods.values()].flatMap(({ pod }) => [...volumesOf(pod, cluster)]));
    const added = new Map([...volumes].filter(([volume]) => !inUse.has(volume)));
    for (const [volume, driver] of attachedVolumes(name, cluster)) inUse.set(volume, driver);
    for (const [driver, count] of countByDriver(added)) {
      const limit = limits.get(driver);
      if (limit !== undefined && (countByDriver(inUse).get(driver) ?? 0) + count > limit)
        return unschedulable('node(s) exceed max volume count');
    }
    return undefined;
  },
};

/** Volumes of a pod that CSI drivers attach. Claims that are missing are left out. */
function volumesOf(pod: Pod, cluster: ClusterView): Volumes {
  const volumes = new Map<string, string>();
  for (const volume of pod.spec?.volumes ?? []) {
    const name = claimNameOf(pod, volume);
    const claim = name === undefined ? undefined : cluster.claim(pod.metadata.namespace ?? '', name);
    const source = claim && sourceOf(claim, cluster);
    if (source) volumes.set(`${source.driver}/${source.handle}`, source.driver);
  }
  return volumes;
}

/** Driver and handle of the claim's volume; a volume that is to be provisioned counts for the provisioner of the class. */
function sourceOf({ metadata, spec }: PersistentVolumeClaim, cluster: ClusterView): { driver: string; handle: string } | undefined {
  const volume = cluster.volume(spec?.volumeName ?? '');
  if (volume) {
    const { driver, volumeHandle } = volume.spec?.csi ?? {};
    return driver && volumeHandle ? { driver, handle: volumeHandle } : undefined;
  }
  const driver = spec?.storageClassName ? cluster.storageClass(spec.storageClassName)?.provisioner : undefined;
  // The prefix keeps the claim apart from the handles of volumes.
  return driver ? { driver, handle: `\0${metadata.namespace}/${metadata.name}` } : undefined;
}

function limitsOf(csiNode: CSINode | undefined): Map<string, number> {
  const limits = new Map<string, number>();
  for (const { name, allocatable } of csiNode?.spec?.drivers ?? [])
    if (allocatable?.count !== undefined) limits.set(name ?? '', allocatable.count);
  return limits;
}

/** Volumes that are attached to the node, whether or not a pod uses them. */
function attachedVolumes(node: string, cluster: ClusterView): Volumes {
  const volumes = new Map<string, string>();
  for (const { spec } of cluster.volumeAttachments(node)) {
    const handle = cluster.volume(spec?.source?.persistentVolumeName ?? '')?.spec?.csi?.volumeHandle;
    if (spec?.attacher && handle) volumes.set(`${spec.attacher}/${handle}`, spec.attacher);
  }
  return volumes;
}

function countByDriver(volumes: Volumes): Map<string, number> {
  const counts = new Map<string, number>();
  for (const driver of volumes.values()) counts.set(driver, (counts.get(driver) ?? 0) + 1);
  return counts;
}
