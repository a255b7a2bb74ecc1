import type { KubeObject } from 'kubenest/sdk';

export interface SecretKeySelector {
  readonly name?: string;
}
export interface EnvVar {
  readonly name: string;
  readonly valueFrom?: { readonly secretKeyRef?: SecretKeySelector; readonly configMapKeyRef?: { readonly name?: string } };
}
export interface EnvFromSource {
  readonly prefix?: string;
  readonly secretRef?: { readonly name?: string };
  readonly configMapRef?: { readonly name?: string };
}
/** Canonical quantities by resource name. */
export type ResourceList = Record<string, string>;
export interface ResourceRequirements {
  requests?: ResourceList;
  limits?: ResourceList;
}
export interface VolumeMount {
  name: string;
  readOnly?: boolean;
  mountPath: string;
}
export interface Container {
  name: string;
  image?: string;
  imagePullPolicy?: string;
  env?: EnvVar[];
  envFrom?: EnvFromSource[];
  volumeMounts?: VolumeMount[];
  resources?: ResourceRequirements;
  /** Set for init containers: `Always` makes it a sidecar. */
  restartPolicy?: string;
}
export interface Volume {
  name: string;
  secret?: { readonly secretName?: string };
  projected?: { readonly sources?: readonly { readonly serviceAccountToken?: object; readonly secret?: { readonly name?: string } }[] };
  [source: string]: unknown;
}
export interface PodSpec {
  serviceAccountName?: string;
  serviceAccount?: string;
  automountServiceAccountToken?: boolean;
  containers?: Container[];
  initContainers?: Container[];
  ephemeralContainers?: Container[];
  volumes?: Volume[];
  imagePullSecrets?: { name?: string }[];
  tolerations?: Toleration[];
  priorityClassName?: string;
  priority?: number;
  preemptionPolicy?: string;
  nodeName?: string;
  nodeSelector?: Record<string, string>;
  runtimeClassName?: string;
  overhead?: ResourceList;
  resources?: ResourceRequirements;
  [field: string]: unknown;
}
export interface Toleration {
  key?: string;
  operator?: string;
  value?: string;
  effect?: string;
  tolerationSeconds?: number;
}
export interface ContainerStatus {
  readonly name: string;
  readonly resources?: ResourceRequirements;
  readonly allocatedResources?: ResourceList;
}
export interface PodStatus {
  readonly phase?: string;
  readonly qosClass?: string;
  readonly conditions?: readonly { readonly type: string; readonly reason?: string }[];
  readonly containerStatuses?: readonly ContainerStatus[];
  readonly initContainerStatuses?: readonly ContainerStatus[];
}
export interface Pod extends KubeObject {
  spec: PodSpec;
  status?: PodStatus;
}

export type ContainerSort = 'container' | 'init container' | 'ephemeral container';

/**
 * Yields the containers of every kind in upstream's order. A plugin that misses a kind can be bypassed (CVE-2023-2727,
 * CVE-2023-2728, CVE-2024-3177).
 */
export function* containersOf(spec: PodSpec): Iterable<{ readonly sort: ContainerSort; readonly container: Container }> {
  for (const container of spec.initContainers ?? []) yield { sort: 'init container', container };
  for (const container of spec.containers ?? []) yield { sort: 'container', container };
  for (const container of spec.ephemeralContainers ?? []) yield { sort: 'ephemeral container', container };
}

interface NamedSource {
  readonly secretName?: string;
  readonly secretRef?: { readonly name?: string };
  readonly nodePublishSecretRef?: { readonly name?: string };
}
/** Secret names in volume sources. */
const secretNames: Readonly<Record<string, (source: NamedSource) => string | undefined>> = {
  azureFile: ({ secretName }) => secretName,
  secret: ({ secretName }) => secretName,
  csi: ({ nodePublishSecretRef }) => nodePublishSecretRef?.name,
  ...Object.fromEntries(
    ['cephfs', 'cinder', 'flexVolume', 'rbd', 'scaleIO', 'iscsi', 'storageos'].map((name) => [
      name,
      ({ secretRef }: NamedSource) => secretRef?.name,
    ]),
  ),
};

function secretsOfVolume(volume: Volume): (string | undefined)[] {
  return [
    ...Object.entries(secretNames).map(([source, nameOf]) => (volume[source] ? nameOf(volume[source] as NamedSource) : undefined)),
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
