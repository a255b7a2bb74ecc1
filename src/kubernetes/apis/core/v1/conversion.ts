/**
 * Redundant pairs of an old and a new field in v1. Upstream's internal types have one field of each pair; this is the net effect of
 * converting there and back, in place. Upstream: pkg/apis/core/v1/conversion.go.
 */
import type { NodeSpec, Pod, PodSpec, PodStatus } from '#kubernetes/schema/core_v1.gen';

/** Annotations that once held init containers. Old kubelets would still apply them. */
const initContainerAnnotations = [
  'pod.beta.kubernetes.io/init-containers',
  'pod.alpha.kubernetes.io/init-containers',
  'pod.beta.kubernetes.io/init-container-statuses',
  'pod.alpha.kubernetes.io/init-container-statuses',
];

export function dropInitContainerAnnotations(annotations: Record<string, string>): void {
  for (const name of initContainerAnnotations) if (annotations[name] !== undefined) delete annotations[name];
}

/** Syncs `serviceAccount`, the old name, with `serviceAccountName`, which takes precedence. */
export function convertPodSpec(spec: PodSpec): void {
  const name = spec.serviceAccountName || spec.serviceAccount;
  if (!name) return;
  spec.serviceAccountName = name;
  spec.serviceAccount = name;
}

export function convertPod(pod: Pod): void {
  const { metadata, spec, status } = pod;
  if (metadata.annotations !== undefined) dropInitContainerAnnotations(metadata.annotations);
  if ((spec?.terminationGracePeriodSeconds ?? 0) < 0) spec!.terminationGracePeriodSeconds = 1;
  if (status !== undefined) convertPodStatus(status);
}

/** Syncs `podIP` with the first of `podIPs`. If they differ, `podIP` wins, since an old kubelet writes no other. */
function convertPodStatus(status: PodStatus): void {
  const { podIP, podIPs } = status;
  if (podIP && podIPs?.[0]?.ip !== podIP) status.podIPs = [{ ip: podIP }];
  else if (podIPs?.[0]?.ip) status.podIP = podIPs[0].ip;
}

/** Syncs `podCIDR` with the first of `podCIDRs`, by the same rules. */
export function convertNodeSpec(spec: NodeSpec): void {
  const { podCIDR, podCIDRs } = spec;
  if (podCIDR && podCIDRs?.[0] !== podCIDR) spec.podCIDRs = [podCIDR];
  else if (podCIDRs?.[0]) spec.podCIDR = podCIDRs[0];
}
