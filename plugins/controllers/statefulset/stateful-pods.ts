import { deepCopy, newControllerReference } from 'kubenest/sdk';
import type { StatefulSet } from 'kubenest/types/apps_v1';
import type { PersistentVolumeClaim, Pod } from 'kubenest/types/core_v1';
import { podFromTemplate } from '../common/pod-control.ts';
import { isPodAvailable } from '../common/pods.ts';

export const statefulSets = { group: 'apps', version: 'v1', resource: 'statefulsets', kind: 'StatefulSet' } as const;
const revisionLabel = 'controller-revision-hash';
const nameLabel = 'statefulset.kubernetes.io/pod-name';
const indexLabel = 'apps.kubernetes.io/pod-index';

/** Returns the name of the set and the ordinal in the name of a pod; undefined for another name. */
function partsOf({ metadata }: Pod): { readonly parent: string; readonly ordinal: number } | undefined {
  const match = /^(.*)-(\d+)$/.exec(metadata.name ?? '');
  const ordinal = Number(match?.[2]);
  return match && ordinal <= 0x7fffffff ? { parent: match[1] as string, ordinal } : undefined;
}

/** Returns the ordinal of a pod; -1 for none. */
export function ordinalOf(pod: Pod): number {
  return partsOf(pod)?.ordinal ?? -1;
}

export function isMemberOf({ metadata }: StatefulSet, pod: Pod): boolean {
  return partsOf(pod)?.parent === metadata.name;
}

export function replicasOf({ spec }: StatefulSet): number {
  return spec?.replicas ?? 1;
}

export function startOf({ spec }: StatefulSet): number {
  return spec?.ordinals?.start ?? 0;
}

/** True if the set has a replica with the ordinal of the pod. */
export function isInRange(set: StatefulSet, pod: Pod): boolean {
  const at = ordinalOf(pod) - startOf(set);
  return at >= 0 && at < replicasOf(set);
}

function podName({ metadata }: StatefulSet, ordinal: number): string {
  return `${metadata.name}-${ordinal}`;
}

export function isParallel({ spec }: StatefulSet): boolean {
  return spec?.podManagementPolicy === 'Parallel';
}

export function revisionOf({ metadata }: Pod): string {
  return metadata.labels?.[revisionLabel] ?? '';
}

/** True if the pod is stored, not only planned. */
export function isCreated({ status }: Pod): boolean {
  return status?.phase !== undefined;
}

export function isUnavailable({ spec }: StatefulSet, pod: Pod, nowMs: number): boolean {
  return !isPodAvailable(pod, spec?.minReadySeconds ?? 0, nowMs) || pod.metadata.deletionTimestamp !== undefined;
}

/** Returns the claims of a pod, by the names of their volumes. */
export function claimsOf(set: StatefulSet, pod: Pod): Map<string, PersistentVolumeClaim> {
  const { metadata, spec } = set;
  const claims = new Map<string, PersistentVolumeClaim>();
  for (const template of spec?.volumeClaimTemplates ?? []) {
    const { metadata: own, spec: content } = deepCopy(template);
    const name = `${own.name}-${metadata.name}-${ordinalOf(pod)}`;
    claims.set(own.name as string, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { ...own, name, namespace: metadata.namespace as string, labels: { ...own.labels, ...spec?.selector?.matchLabels } },
      ...(content && { spec: content }),
    });
  }
  return claims;
}

/** True if the pod has the labels and the name of its ordinal. */
export function hasIdentity(set: StatefulSet, pod: Pod): boolean {
  return isMemberOf(set, pod) && pod.metadata.labels?.[nameLabel] === pod.metadata.name;
}

/** True if the pod mounts its claims. */
export function hasStorage(set: StatefulSet, pod: Pod): boolean {
  if (ordinalOf(pod) < 0) return false;
  const mounted = new Map(pod.spec?.volumes?.map(({ name, persistentVolumeClaim }) => [name, persistentVolumeClaim?.claimName]));
  return [...claimsOf(set, pod)].every(([volume, { metadata }]) => mounted.get(volume) === metadata.name);
}

/** Returns the pod with the labels of its ordinal and its claims. */
export function withIdentityAndStorage(set: StatefulSet, pod: Pod): Pod {
  const name = podName(set, ordinalOf(pod));
  const labels = { ...pod.metadata.labels, [nameLabel]: name, [indexLabel]: String(ordinalOf(pod)) };
  const claims = claimsOf(set, pod);
  const mounted = [...claims].map(([volume, { metadata }]) => ({
    name: volume,
    persistentVolumeClaim: { claimName: metadata.name as string },
  }));
  const others = pod.spec?.volumes?.filter((volume) => !claims.has(volume.name as string)) ?? [];
  const volumes = [...mounted, ...others];
  return { ...pod, metadata: { ...pod.metadata, name, labels }, spec: { ...pod.spec, ...(volumes.length > 0 && { volumes }) } };
}

/** Returns a new pod of the set. */
export function newPod(set: StatefulSet, ordinal: number, revision: string): Pod {
  const name = podName(set, ordinal);
  const { metadata, spec, ...rest } = podFromTemplate(set.spec?.template ?? {}, set, newControllerReference(set, statefulSets));
  const labels = { ...metadata.labels, [revisionLabel]: revision };
  const { serviceName } = set.spec ?? {};
  const planned = {
    ...rest,
    metadata: { ...metadata, name, labels },
    spec: { ...spec, hostname: name, ...(serviceName && { subdomain: serviceName }) },
  };
  return withIdentityAndStorage(set, planned);
}

/** True if the pod of the ordinal has the template of before the update. Upstream: newVersionedStatefulSetPod. */
export function isBeforeUpdate({ spec, status }: StatefulSet, ordinal: number): boolean {
  const { type, rollingUpdate } = spec?.updateStrategy ?? {};
  const start = spec?.ordinals?.start ?? 0;
  if (rollingUpdate) return ordinal < start + (rollingUpdate.partition ?? 0);
  return type === 'RollingUpdate' && ordinal < start + (status?.currentReplicas ?? 0);
}
