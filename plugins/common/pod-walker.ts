import type { Pod } from 'kubenest/kinds';

// The parts of a pod as the API declares them; a pod that is not validated yet may lack required ones.
export type { Pod };
export type PodSpec = Pod['spec'];
export type PodStatus = NonNullable<Pod['status']>;
export type Container = PodSpec['containers'][number];
export type EnvVar = NonNullable<Container['env']>[number];
export type EnvFromSource = NonNullable<Container['envFrom']>[number];
export type VolumeMount = NonNullable<Container['volumeMounts']>[number];
export type ResourceRequirements = NonNullable<Container['resources']>;
export type Volume = NonNullable<PodSpec['volumes']>[number];
export type VolumeProjection = NonNullable<NonNullable<Volume['projected']>['sources']>[number];
export type PodSecurityContext = NonNullable<PodSpec['securityContext']>;
export type ContainerSecurityContext = NonNullable<Container['securityContext']>;
export type SELinuxOptions = NonNullable<ContainerSecurityContext['seLinuxOptions']>;
export type ContainerStatus = NonNullable<PodStatus['containerStatuses']>[number];
/** A toleration before validation: annotations and configuration files may have any text in `operator` and `effect`. */
export interface Toleration {
  key?: string;
  operator?: string;
  value?: string;
  effect?: string;
  tolerationSeconds?: number;
}
/** Canonical quantities by resource name. */
export type ResourceList = Record<string, string>;

export type ContainerSort = 'container' | 'init container' | 'ephemeral container';

/**
 * Yields the containers of every kind in upstream's order. A plugin that misses a kind can be bypassed (CVE-2023-2727,
 * CVE-2023-2728, CVE-2024-3177).
 */
export function* containersOf(spec: Partial<PodSpec>): Iterable<{ readonly sort: ContainerSort; readonly container: Container }> {
  for (const container of spec.initContainers ?? []) yield { sort: 'init container', container };
  for (const container of spec.containers ?? []) yield { sort: 'container', container };
  for (const container of spec.ephemeralContainers ?? []) yield { sort: 'ephemeral container', container };
}

function secretsOfVolume(volume: Volume): (string | undefined)[] {
  const { cephfs, cinder, flexVolume, rbd, scaleIO, iscsi, storageos } = volume;
  return [
    volume.azureFile?.secretName,
    volume.secret?.secretName,
    volume.csi?.nodePublishSecretRef?.name,
    ...[cephfs, cinder, flexVolume, rbd, scaleIO, iscsi, storageos].map((source) => source?.secretRef?.name),
    ...(volume.projected?.sources ?? []).map(({ secret }) => secret?.name),
  ];
}

/**
 * True if a pod refers to any secret by name: in volumes, environment variables or pull secrets. Upstream:
 * kubernetes/pkg/api/pod (VisitPodSecretNames).
 */
export function refersToSecrets(spec: PodSpec): boolean {
  if (spec.imagePullSecrets?.some(({ name }) => name)) return true;
  if (spec.volumes?.some((volume) => secretsOfVolume(volume).some(Boolean))) return true;
  for (const { container } of containersOf(spec)) {
    if (container.env?.some(({ valueFrom }) => valueFrom?.secretKeyRef?.name)) return true;
    if (container.envFrom?.some(({ secretRef }) => secretRef?.name)) return true;
  }
  return false;
}
