import { nextGeneration } from '#apimachinery/meta/generation';
import type { LabelSelector } from '#apimachinery/meta/schema/meta_v1.gen';
import { fieldPath } from '#apimachinery/validation/field';
import { getWarningsForIP } from '#apimachinery/validation/ip';
import type { ServerTraits, Strategy } from '#apiserver/registry/resource-definition';
import { applyAppArmorAnnotations } from '#kubernetes/apis/core/app-armor';
import { isOptedOut } from '#kubernetes/apis/core/capabilities';
import { dropDisabledPodFields, podStatusFields } from '#kubernetes/apis/core/disabled-fields';
import { podQosClass } from '#kubernetes/apis/core/pod-qos';
import { validatePodCreate, validatePodEphemeralContainersUpdate, validatePodUpdate } from '#kubernetes/apis/core/validation/pod';
import { validatePodStatusUpdate } from '#kubernetes/apis/core/validation/pod-status';
import { validatePodResize } from '#kubernetes/apis/core/validation/pod-resize';
import { podWarnings } from '#kubernetes/apis/core/validation/pod-warnings';
import { dropGatedFields } from '#apiserver/registry/gated-fields';
import { equalAs } from '#kubernetes/apis/equal-as';
import { keepField, keepMeta, resetObjectMetaForStatus } from '#kubernetes/apis/strategy';
import type { Container, Pod, PodAffinityTerm } from '#kubernetes/schema/core_v1.gen';

type Labels = Readonly<Record<string, string>>;

/** Adds requirements to the selector: each key must (or must not) have the value of the pod's own label. */
function addLabelKeys(selector: LabelSelector, keys: readonly string[], operator: 'In' | 'NotIn', labels: Labels): void {
  for (const key of keys) {
    const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
    if (value !== undefined) (selector.matchExpressions ??= []).push({ key, operator, values: [value] });
  }
}

function mergeAffinityKeys({ labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] }: PodAffinityTerm, labels: Labels): void {
  if (!labelSelector) return;
  addLabelKeys(labelSelector, matchLabelKeys, 'In', labels);
  addLabelKeys(labelSelector, mismatchLabelKeys, 'NotIn', labels);
}

/** Adds the label keys of affinity terms and spread constraints to their selectors, for the scheduler. */
function mergeMatchLabelKeys({ metadata, spec }: Pod, server: ServerTraits): void {
  const labels = metadata.labels ?? {};
  for (const affinity of [spec?.affinity?.podAffinity, spec?.affinity?.podAntiAffinity]) {
    for (const { podAffinityTerm } of affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []) {
      if (podAffinityTerm) mergeAffinityKeys(podAffinityTerm, labels);
    }
    for (const term of affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []) mergeAffinityKeys(term, labels);
  }
  if (isOptedOut(server, 'MatchLabelKeysInPodTopologySpreadSelectorMerge')) return;
  for (const { labelSelector, matchLabelKeys = [] } of spec?.topologySpreadConstraints ?? []) {
    if (labelSelector) addLabelKeys(labelSelector, matchLabelKeys, 'In', labels);
  }
}

function raiseGeneration(pod: Pod, old: Pod): void {
  if (!equalAs('core_v1.PodSpec', pod.spec, old.spec)) pod.metadata.generation = nextGeneration(pod.metadata.generation);
}

/** Strategy of pods. Upstream: kubernetes/pkg/registry/core/pod/strategy.go. */
export const podStrategy: Strategy<Pod> = {
  resetFields: [['status']],
  returnsDeletedObject: true,
  prepareForCreate(pod, context) {
    pod.metadata.generation = 1;
    dropDisabledPodFields(pod.spec, undefined, context);
    pod.status = { phase: 'Pending', qosClass: podQosClass(pod) };
    if (pod.spec?.schedulingGates?.length) {
      pod.status.conditions = [
        {
          type: 'PodScheduled',
          status: 'False',
          lastTransitionTime: context.now,
          reason: 'SchedulingGated',
          message: 'Scheduling is blocked due to non-empty scheduling gates',
        },
      ];
    }
    mergeMatchLabelKeys(pod, context);
    applyAppArmorAnnotations(pod, context);
  },
  prepareForUpdate(pod, old, context) {
    keepField(pod, old, 'status');
    dropDisabledPodFields(pod.spec, old.spec, context);
    raiseGeneration(pod, old);
  },
  validate: validatePodCreate,
  validateUpdate: validatePodUpdate,
  warningsOnCreate: podWarnings,
  /** Pods that are not scheduled or have ended are deleted without a grace period. */
  gracefulDeletion({ spec, status }, requestedSeconds) {
    const asked = requestedSeconds ?? spec?.terminationGracePeriodSeconds ?? 0;
    const ended = status?.phase === 'Failed' || status?.phase === 'Succeeded';
    if (!spec?.nodeName || ended) return { gracePeriodSeconds: 0 };
    return { gracePeriodSeconds: asked < 0 ? 1 : asked };
  },
};

/** Restores observed generations that a kubelet without support for them would drop. */
function preserveObservedGenerations(pod: Pod, old: Pod): void {
  const { status } = pod;
  if (!status) return;
  if (!status.observedGeneration && old.status?.observedGeneration) status.observedGeneration = old.status.observedGeneration;
  const before = new Map<string | undefined, number[]>();
  for (const { type, observedGeneration = 0 } of old.status?.conditions ?? []) {
    const generations = before.get(type) ?? [];
    generations.push(observedGeneration);
    before.set(type, generations);
  }
  for (const condition of status.conditions ?? []) {
    const generation = before.get(condition.type)?.shift() ?? 0;
    if (!condition.observedGeneration && generation) condition.observedGeneration = generation;
  }
}

export const podStatusStrategy: Strategy<Pod> = {
  resetFields: [['spec'], ['metadata', 'deletionTimestamp'], ['metadata', 'ownerReferences']],
  prepareForUpdate(pod, old, context) {
    keepField(pod, old, 'spec');
    dropGatedFields(pod, old, podStatusFields, context);
    delete pod.metadata.deletionTimestamp;
    keepMeta(pod, old, 'ownerReferences');
    const status = (pod.status ??= {});
    if (!status.qosClass && old.status?.qosClass) status.qosClass = old.status.qosClass;
    preserveObservedGenerations(pod, old);
  },
  validateUpdate: validatePodStatusUpdate,
  warningsOnUpdate({ status }) {
    return (['podIPs', 'hostIPs'] as const).flatMap((field) =>
      (status?.[field] ?? []).flatMap(({ ip = '' }, i) => getWarningsForIP(fieldPath('status', field).index(i).child('ip'), ip)),
    );
  },
};

export const ephemeralContainersStrategy: Strategy<Pod> = {
  prepareForUpdate(pod, old) {
    const containers = pod.spec?.ephemeralContainers;
    pod.spec = { ...old.spec };
    if (containers) pod.spec.ephemeralContainers = containers;
    else delete pod.spec.ephemeralContainers;
    keepField(pod, old, 'status');
    resetObjectMetaForStatus(pod, old);
    raiseGeneration(pod, old);
  },
  validateUpdate: validatePodEphemeralContainersUpdate,
};

/** Returns the old containers with the new resources; undefined if the containers differ otherwise, which validation rejects. */
function resized(containers: readonly Container[] = [], old: readonly Container[] = []): Container[] | undefined {
  if (containers.length !== old.length) return undefined;
  const result: Container[] = [];
  for (const [i, { name, resources, resizePolicy }] of containers.entries()) {
    if (old[i]?.name !== name) return undefined;
    const { resources: _, resizePolicy: __, ...rest } = old[i]!;
    result.push({ ...rest, ...(resources && { resources }), ...(resizePolicy && { resizePolicy }) });
  }
  return result;
}

export const resizeStrategy: Strategy<Pod> = {
  prepareForUpdate(pod, old, { isEnabled }) {
    const spec = pod.spec ?? {};
    const sameCount =
      spec.containers?.length === old.spec?.containers?.length &&
      (spec.initContainers?.length ?? 0) === (old.spec?.initContainers?.length ?? 0);
    if (sameCount) {
      const containers = resized(spec.containers, old.spec?.containers) ?? spec.containers;
      const initContainers = resized(spec.initContainers, old.spec?.initContainers) ?? spec.initContainers;
      pod.spec = { ...old.spec };
      if (isEnabled?.('InPlacePodLevelResourcesVerticalScaling') !== false) {
        if (spec.resources) pod.spec.resources = spec.resources;
        else delete pod.spec.resources;
      }
      if (containers) pod.spec.containers = containers;
      if (initContainers?.length) pod.spec.initContainers = initContainers;
      keepField(pod, old, 'status');
      resetObjectMetaForStatus(pod, old);
    }
    raiseGeneration(pod, old);
  },
  validateUpdate: validatePodResize,
};
