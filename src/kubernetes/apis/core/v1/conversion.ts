/**
 * Fields of v1 that say the same twice, since one of them is older. Upstream has one of each pair in its internal types; what
 * comes out of the way there and back is done here in place. Upstream: pkg/apis/core/v1/conversion.go.
 */
import type { NodeSpec, Pod, PodSpec, PodStatus } from '#kubernetes/schema/core_v1.gen';

/** Init containers were annotations once; old kubelets would still obey these. */
const initContainerAnnotations = [
  'pod.beta.kubernetes.io/init-containers',
  'pod.alpha.kubernetes.io/init-containers',
  'pod.beta.kubernetes.io/init-container-statuses',
  'pod.alpha.kubernetes.io/init-container-statuses',
];

export function dropInitContainerAnnotations(annotations: Record<string, string>): void {
  for (const name of initContainerAnnotations) if (annotations[name] !== undefined) delete annotations[name];
}

/** `serviceAccount` is the old name of `serviceAccountName`, which wins. */
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

/** `podIP` is the first of `podIPs`; where a client says both and they differ, `podIP` wins, as an old kubelet knows no other. */
function convertPodStatus(status: PodStatus): void {
  const { podIP, podIPs } = status;
  if (podIP && podIPs?.[0]?.ip !== podIP) status.podIPs = [{ ip: podIP }];
  else if (podIPs?.[0]?.ip) status.podIP = podIPs[0].ip;
}

/** The same of `podCIDR` and `podCIDRs`. */
export function convertNodeSpec(spec: NodeSpec): void {
  const { podCIDR, podCIDRs } = spec;
  if (podCIDR && podCIDRs?.[0] !== podCIDR) spec.podCIDRs = [podCIDR];
  else if (podCIDRs?.[0]) spec.podCIDR = podCIDRs[0];
}
