import type { Pod, Volume } from 'kubenest/types/core_v1';
import { type Filter, unresolvable, unschedulable } from '../framework/framework.ts';

interface State {
  readonly disks: readonly Volume[];
  readonly exclusive: readonly string[];
}

/**
 * Rejects nodes on which another pod uses the same disk, and all nodes while another pod uses a claim with the access mode
 * ReadWriteOncePod. Upstream: plugins/volumerestrictions.
 */
export const volumeRestrictions: Filter<State> = {
  name: 'VolumeRestrictions',
  events: ['NodeAdded', 'PodDeleted', 'StorageChanged'],

  prepare({ pod, namespace, uid }, cluster) {
    // Claims of ephemeral volumes belong to one pod.
    const names = (pod.spec?.volumes ?? []).flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? []);
    const exclusive = names.filter((name) => cluster.claim(namespace, name)?.spec?.accessModes?.includes('ReadWriteOncePod'));
    const missing = names.find((name) => !cluster.claim(namespace, name));
    if (missing !== undefined) return { rejection: unresolvable(`persistentvolumeclaim ${JSON.stringify(missing)} not found`) };
    const disks = (pod.spec?.volumes ?? []).filter(isDisk);
    if (exclusive.length === 0 && disks.length === 0) return 'skip';
    return { state: { disks, exclusive: exclusive.filter((name) => cluster.isClaimInUse(namespace, name, uid)) } };
  },

  check({ disks, exclusive }, _, node) {
    const isTaken = disks.length > 0 && [...node.pods.values()].some(({ pod }) => disks.some((disk) => usesDisk(pod, disk)));
    if (isTaken) return unschedulable('node(s) had no available disk');
    if (exclusive.length === 0) return undefined;
    return unschedulable(
      'node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod',
    );
  },
};

const isDisk = ({ gcePersistentDisk, awsElasticBlockStore, iscsi, rbd }: Volume): boolean =>
  Boolean(gcePersistentDisk ?? awsElasticBlockStore ?? iscsi ?? rbd);

function usesDisk({ spec = {} }: Pod, disk: Volume): boolean {
  return (spec.volumes ?? []).some((other) => conflicts(disk, other));
}

function conflicts(a: Volume, b: Volume): boolean {
  if (a.gcePersistentDisk && b.gcePersistentDisk)
    return a.gcePersistentDisk.pdName === b.gcePersistentDisk.pdName && !(a.gcePersistentDisk.readOnly && b.gcePersistentDisk.readOnly);
  if (a.awsElasticBlockStore && b.awsElasticBlockStore) return a.awsElasticBlockStore.volumeID === b.awsElasticBlockStore.volumeID;
  if (a.iscsi && b.iscsi) return a.iscsi.iqn === b.iscsi.iqn && !(a.iscsi.readOnly && b.iscsi.readOnly);
  if (!a.rbd || !b.rbd) return false;
  const monitors = new Set(a.rbd.monitors);
  const isSame = (b.rbd.monitors ?? []).some((one) => monitors.has(one)) && a.rbd.pool === b.rbd.pool && a.rbd.image === b.rbd.image;
  return isSame && !(a.rbd.readOnly && b.rbd.readOnly);
}
