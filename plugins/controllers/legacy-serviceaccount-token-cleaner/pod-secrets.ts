import type { Pod } from 'kubenest/types/core_v1';

/** Returns the names of the Secrets that a pod refers to. Upstream: pkg/api/v1/pod.VisitPodSecretNames. */
export function secretNamesOf({ spec = {} }: Pod): Set<string> {
  const names: (string | undefined)[] = (spec.imagePullSecrets ?? []).map(({ name }) => name);
  for (const { env = [], envFrom = [] } of [
    ...(spec.containers ?? []),
    ...(spec.initContainers ?? []),
    ...(spec.ephemeralContainers ?? []),
  ]) {
    names.push(...env.map(({ valueFrom }) => valueFrom?.secretKeyRef?.name), ...envFrom.map(({ secretRef }) => secretRef?.name));
  }
  for (const volume of spec.volumes ?? []) {
    names.push(
      volume.secret?.secretName,
      volume.azureFile?.secretName,
      volume.cephfs?.secretRef?.name,
      volume.cinder?.secretRef?.name,
      volume.flexVolume?.secretRef?.name,
      volume.rbd?.secretRef?.name,
      volume.scaleIO?.secretRef?.name,
      volume.iscsi?.secretRef?.name,
      volume.storageos?.secretRef?.name,
      volume.csi?.nodePublishSecretRef?.name,
      ...(volume.projected?.sources ?? []).map(({ secret }) => secret?.name),
    );
  }
  return new Set(names.filter((name) => name !== undefined));
}
