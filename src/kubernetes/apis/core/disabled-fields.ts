import type { KubeObject } from '#apimachinery/meta/types';
import type { Strategy, StrategyContext } from '#apiserver/registry/resource-definition';
import type { Container, PodSpec, PodTemplateSpec } from '#kubernetes/schema/core_v1.gen';

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

/** A strategy for objects with a template of pods: before all else, they lose what belongs to features that are off. */
export function withPodTemplate<T extends KubeObject>(
  templateOf: (object: T) => PodTemplateSpec | undefined,
  own: Strategy<T>,
): Strategy<T> {
  return {
    ...own,
    prepareForCreate(object, context) {
      dropDisabledPodFields(templateOf(object)?.spec, undefined, context);
      own.prepareForCreate?.(object, context);
    },
    prepareForUpdate(object, old, context) {
      dropDisabledPodFields(templateOf(object)?.spec, templateOf(old)?.spec, context);
      own.prepareForUpdate?.(object, old, context);
    },
  };
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
