import type { Node, PersistentVolume, PersistentVolumeClaim, Pod } from 'kubenest/types/core_v1';
import type { StorageClass } from 'kubenest/types/storage_v1';
import { type ClusterView, type Filter, unresolvable } from '../framework/framework.ts';
import { matchesNodeSelector } from '../../common/node-affinity.ts';
import { amountOf } from '../framework/resources.ts';
import { claimNameOf } from '../../common/pod-claims.ts';
import { selectorOf } from '../../common/selectors.ts';
import { isBound } from '../framework/volume-claims.ts';

/** The claims of a pod, by what the scheduler has to do about them. */
export interface PodClaims {
  readonly bound: readonly PersistentVolumeClaim[];
  /** Claims of a class that binds when the first pod is scheduled. */
  readonly waiting: readonly PersistentVolumeClaim[];
  readonly cluster: ClusterView;
}

/** Writes that precede the binding of a pod with waiting claims. */
export interface VolumeDecision {
  readonly bindings: readonly { readonly claim: PersistentVolumeClaim; readonly volume: PersistentVolume }[];
  readonly provisions: readonly PersistentVolumeClaim[];
}

const noProvisioner = 'kubernetes.io/no-provisioner';

/**
 * Rejects nodes that the volumes of bound claims cannot be used on, and nodes on which a waiting claim gets no volume. Upstream:
 * plugins/volumebinding.
 */
export const volumeBinding: Filter<PodClaims> = {
  name: 'VolumeBinding',
  events: ['NodeAdded', 'NodeLabelsChanged', 'StorageChanged'],

  prepare({ pod, namespace }, cluster) {
    const claims: PersistentVolumeClaim[] = [];
    for (const volume of pod.spec?.volumes ?? []) {
      const name = claimNameOf(pod, volume);
      if (name === undefined) continue;
      const claim = cluster.claim(namespace, name);
      const problem = problemOf(pod, name, claim, volume.ephemeral !== undefined);
      if (problem !== undefined) return { rejection: unresolvable(problem) };
      claims.push(claim as PersistentVolumeClaim);
    }
    if (claims.length === 0) return 'skip';
    const unbound = claims.filter((claim) => !isBound(claim));
    if (unbound.some((claim) => claim.spec?.volumeName || !isDelayed(claim, cluster)))
      return { rejection: unresolvable('pod has unbound immediate PersistentVolumeClaims') };
    return { state: { bound: claims.filter(isBound), waiting: unbound, cluster } };
  },

  check({ bound, waiting, cluster }, _, { node }) {
    for (const { spec } of bound) {
      const volume = cluster.volume(spec?.volumeName ?? '');
      if (!volume) return unresolvable('node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)');
      if (!isReachable(volume, node)) return unresolvable("node(s) didn't match PersistentVolume's node affinity");
    }
    if (waiting.length === 0 || decideVolumes(waiting, node, cluster)) return undefined;
    return unresolvable("node(s) didn't find available persistent volumes to bind");
  },
};

function problemOf(pod: Pod, name: string, claim: PersistentVolumeClaim | undefined, isEphemeral: boolean): string | undefined {
  const quoted = JSON.stringify(name);
  if (!claim) {
    return isEphemeral
      ? `waiting for ephemeral volume controller to create the persistentvolumeclaim ${quoted}`
      : `persistentvolumeclaim ${quoted} not found`;
  }
  if (claim.status?.phase === 'Lost')
    return `persistentvolumeclaim ${quoted} bound to non-existent persistentvolume ${JSON.stringify(claim.spec?.volumeName ?? '')}`;
  if (claim.metadata.deletionTimestamp !== undefined) return `persistentvolumeclaim ${quoted} is being deleted`;
  const isOwned = claim.metadata.ownerReferences?.some(({ uid, controller }) => controller && uid === pod.metadata.uid);
  if (isEphemeral && !isOwned)
    return `PVC ${pod.metadata.namespace}/${name} was not created for pod ${pod.metadata.namespace}/${pod.metadata.name} (pod is not owner)`;
  return undefined;
}

const classOf = ({ spec }: PersistentVolumeClaim | PersistentVolume, cluster: ClusterView): StorageClass | undefined =>
  spec?.storageClassName ? cluster.storageClass(spec.storageClassName) : undefined;

function isDelayed(claim: PersistentVolumeClaim, cluster: ClusterView): boolean {
  return classOf(claim, cluster)?.volumeBindingMode === 'WaitForFirstConsumer';
}

const isReachable = ({ spec }: PersistentVolume, node: Node): boolean =>
  !spec?.nodeAffinity?.required || matchesNodeSelector(spec.nodeAffinity.required, node);

/** Chooses a volume for each claim on the node, the smallest that fits, or its provisioning; undefined if a claim gets none. */
export function decideVolumes(claims: readonly PersistentVolumeClaim[], node: Node, cluster: ClusterView): VolumeDecision | undefined {
  const bindings: { claim: PersistentVolumeClaim; volume: PersistentVolume }[] = [];
  const provisions: PersistentVolumeClaim[] = [];
  const taken = new Set<PersistentVolume>();
  const bySize = [...claims].sort((a, b) => requestOf(a) - requestOf(b));
  for (const claim of bySize) {
    const volume = smallestFor(claim, node, cluster, taken);
    if (volume) {
      taken.add(volume);
      bindings.push({ claim, volume });
    } else if (isProvisionable(claim, node, cluster)) {
      provisions.push(claim);
    } else {
      return undefined;
    }
  }
  return { bindings, provisions };
}

const requestOf = ({ spec }: PersistentVolumeClaim): number => amountOf('storage', spec?.resources?.requests?.['storage'] ?? '0');
const capacityOf = ({ spec }: PersistentVolume): number => amountOf('storage', spec?.capacity?.['storage'] ?? '0');

function smallestFor(
  claim: PersistentVolumeClaim,
  node: Node,
  cluster: ClusterView,
  taken: ReadonlySet<PersistentVolume>,
): PersistentVolume | undefined {
  let best: PersistentVolume | undefined;
  for (const volume of cluster.volumes()) {
    if (taken.has(volume) || !fits(volume, claim) || !isReachable(volume, node)) continue;
    if (!best || capacityOf(volume) < capacityOf(best)) best = volume;
  }
  return best;
}

function fits({ metadata, spec = {}, status }: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const { accessModes = [], selector, storageClassName = '', volumeMode = 'Filesystem' } = claim.spec ?? {};
  if (metadata.deletionTimestamp !== undefined) return false;
  if (spec.claimRef) {
    const { namespace, name, uid } = spec.claimRef;
    if (namespace !== claim.metadata.namespace || name !== claim.metadata.name || (uid && uid !== claim.metadata.uid)) return false;
  } else if (status?.phase !== 'Available') return false;
  if ((spec.storageClassName ?? '') !== storageClassName || (spec.volumeMode ?? 'Filesystem') !== volumeMode) return false;
  if (!accessModes.every((mode) => spec.accessModes?.includes(mode))) return false;
  if (amountOf('storage', spec.capacity?.['storage'] ?? '0') < requestOf(claim)) return false;
  return !selector || selectorOf(selector).matches(metadata.labels);
}

function isProvisionable(claim: PersistentVolumeClaim, node: Node, cluster: ClusterView): boolean {
  const storageClass = classOf(claim, cluster);
  if (!storageClass?.provisioner || storageClass.provisioner === noProvisioner) return false;
  const topologies = storageClass.allowedTopologies ?? [];
  if (topologies.length === 0) return true;
  const labels = node.metadata.labels ?? {};
  return topologies.some(({ matchLabelExpressions = [] }) =>
    matchLabelExpressions.every(({ key = '', values = [] }) => Object.hasOwn(labels, key) && values.includes(labels[key] as string)),
  );
}
