import type { StrategyContext } from '#apiserver/registry/resource-definition';
import type { Container, PodSpec } from '#kubernetes/schema/core_v1.gen';

/**
 * Takes out of a pod's spec (or a template's) what belongs to features that are off, unless the stored spec has it already. Upstream: DropDisabledPodFields in pkg/api/pod/util.go.
 */
export function dropDisabledPodFields(spec: PodSpec | undefined, old: PodSpec | undefined, { isEnabled }: StrategyContext): void {
  if (!spec) return;
  if (spec.schedulingGroup && !old?.schedulingGroup && !isEnabled?.('GenericWorkload')) delete spec.schedulingGroup;
  for (const list of ['containers', 'initContainers', 'ephemeralContainers'] as const) {
    for (const container of spec[list] ?? [])
      if (container.lifecycle?.stopSignal !== undefined && !usesStopSignals(old)) dropStopSignal(container);
  }
  const hasPodCertificates = isEnabled?.('PodCertificateRequest') ?? false;
  // ClusterTrustBundleProjection and PodCertificateRequest
  for (const { projected } of spec.volumes ?? []) {
    for (const source of projected?.sources ?? []) {
      if (source.clusterTrustBundle && !projects(old, 'clusterTrustBundle')) delete source.clusterTrustBundle;
      if (source.podCertificate && !hasPodCertificates && !projects(old, 'podCertificate')) delete source.podCertificate;
    }
  }
}

/** ContainerStopSignals */
function usesStopSignals(spec: PodSpec | undefined): boolean {
  const containers: readonly Container[] = [
    ...(spec?.containers ?? []),
    ...(spec?.initContainers ?? []),
    ...(spec?.ephemeralContainers ?? []),
  ];
  return containers.some(({ lifecycle }) => lifecycle?.stopSignal !== undefined);
}

function dropStopSignal(container: Container): void {
  delete container.lifecycle!.stopSignal;
  if (Object.keys(container.lifecycle!).length === 0) delete container.lifecycle;
}

function projects(spec: PodSpec | undefined, field: 'clusterTrustBundle' | 'podCertificate'): boolean {
  return (spec?.volumes ?? []).some(({ projected }) => projected?.sources?.some((source) => source[field]));
}
