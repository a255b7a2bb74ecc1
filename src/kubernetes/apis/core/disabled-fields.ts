import type { KubeObject } from '#apimachinery/meta/types';
import type { Strategy, StrategyContext } from '#apiserver/registry/resource-definition';
import type { GatedFields } from '#apiserver/registry/gated-fields';
import type { Container, PodSpec, PodTemplateSpec } from '#kubernetes/schema/core_v1.gen';

/**
 * Drops the fields of disabled features from the spec of a pod or template, unless the stored spec has them. Upstream:
 * DropDisabledPodFields in pkg/api/pod/util.go.
 */
export function dropDisabledPodFields(spec: PodSpec | undefined, old: PodSpec | undefined, { isEnabled }: StrategyContext): void {
  if (!spec) return;
  const isOff = (gate: string): boolean => isEnabled?.(gate) === false;
  if (spec.hostnameOverride !== undefined && old?.hostnameOverride === undefined && isOff('HostnameOverride')) delete spec.hostnameOverride;
  if (spec.resources && !old?.resources && isOff('PodLevelResources')) delete spec.resources;
  if (isOff('ContainerRestartRules') && !usesRestartRules(old)) dropRestartRules(spec);
  if (isOff('EnvFiles') && !usesEnvFiles(old)) dropEnvFiles(spec);
  if (isOff('MatchLabelKeysInPodTopologySpread') && !usesSpreadKeys(old)) {
    for (const constraint of spec.topologySpreadConstraints ?? []) delete constraint.matchLabelKeys;
  }
  if (spec.schedulingGroup && !old?.schedulingGroup && !isEnabled?.('GenericWorkload')) delete spec.schedulingGroup;
  if (!isEnabled?.('ContainerStopSignals')) {
    for (const container of containersOf(spec))
      if (container.lifecycle?.stopSignal !== undefined && !usesStopSignals(old)) dropStopSignal(container);
  }
  const hasPodCertificates = isEnabled?.('PodCertificateRequest') ?? false;
  const hasTrustBundles = isEnabled?.('ClusterTrustBundleProjection') ?? false;
  for (const { projected } of spec.volumes ?? []) {
    for (const source of projected?.sources ?? []) {
      if (source.clusterTrustBundle && !hasTrustBundles && !projects(old, 'clusterTrustBundle')) delete source.clusterTrustBundle;
      if (source.podCertificate && !hasPodCertificates && !projects(old, 'podCertificate')) delete source.podCertificate;
    }
  }
}

const containerStatuses = ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'];
const ofEachContainer = (field: string): string[] => containerStatuses.map((list) => `status.${list}[].${field}`);

/** Fields of a pod's status. Upstream: dropDisabledPodStatusFields in pkg/api/pod/util.go. */
export const podStatusFields: readonly GatedFields[] = [
  { gates: ['InPlacePodLevelResourcesVerticalScaling'], fields: ['status.resources', 'status.allocatedResources'] },
  { gates: ['DRAExtendedResource'], fields: ['status.extendedResourceClaimStatus'] },
  { gates: ['ResourceHealthStatus'], fields: ofEachContainer('allocatedResourcesStatus') },
  { gates: ['ResourceHealthStatusMessage'], fields: ofEachContainer('allocatedResourcesStatus[].resources[].message') },
  { gates: ['ImageVolumeWithDigest'], alpha: true, fields: ofEachContainer('volumeMounts[].volumeStatus') },
  { gates: ['DRANodeAllocatableResources'], alpha: true, fields: ['status.nodeAllocatableResourceClaimStatuses'] },
];

/** Returns a strategy for objects with a pod template that first drops the fields of disabled features. */
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

/** True if a container has a stop signal (gate ContainerStopSignals). */
function usesStopSignals(spec: PodSpec | undefined): boolean {
  return containersOf(spec).some(({ lifecycle }) => lifecycle?.stopSignal !== undefined);
}

function usesSpreadKeys(spec: PodSpec | undefined): boolean {
  return (spec?.topologySpreadConstraints ?? []).some(({ matchLabelKeys }) => matchLabelKeys?.length);
}

function containersOf({ containers = [], initContainers = [], ephemeralContainers = [] }: PodSpec = {}): readonly Container[] {
  return initContainers.length + ephemeralContainers.length === 0 ? containers : [...containers, ...initContainers, ...ephemeralContainers];
}

function usesRestartRules(spec: PodSpec | undefined): boolean {
  return (
    (spec?.containers ?? []).some(({ restartPolicy }) => restartPolicy !== undefined) ||
    (spec?.initContainers ?? []).some(
      ({ restartPolicy, restartPolicyRules }) =>
        (restartPolicy !== undefined && restartPolicy !== 'Always') || (restartPolicyRules?.length ?? 0) > 0,
    )
  );
}

/** Drops restart policy rules. The restart policy of an init container predates the rules and stays. */
function dropRestartRules(spec: PodSpec): void {
  for (const container of containersOf(spec)) delete container.restartPolicyRules;
  for (const container of [...(spec.containers ?? []), ...(spec.ephemeralContainers ?? [])]) delete container.restartPolicy;
  for (const container of spec.initContainers ?? []) if (container.restartPolicy !== 'Always') delete container.restartPolicy;
}

function usesEnvFiles(spec: PodSpec | undefined): boolean {
  return containersOf(spec).some(({ env }) => env?.some(({ valueFrom }) => valueFrom?.fileKeyRef));
}

function dropEnvFiles(spec: PodSpec): void {
  for (const { env = [] } of containersOf(spec)) for (const { valueFrom } of env) delete valueFrom?.fileKeyRef;
}

function dropStopSignal(container: Container): void {
  delete container.lifecycle!.stopSignal;
  if (Object.keys(container.lifecycle!).length === 0) delete container.lifecycle;
}

function projects(spec: PodSpec | undefined, field: 'clusterTrustBundle' | 'podCertificate'): boolean {
  return (spec?.volumes ?? []).some(({ projected }) => projected?.sources?.some((source) => source[field]));
}
