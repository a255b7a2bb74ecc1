import type { ServerTraits } from '#apiserver/registry/resource-definition';
import { semanticDeepEqual } from '#apimachinery/runtime/semantic-equality';
import { type FieldError, fieldPath, forbidden, invalid } from '#apimachinery/validation/field';
import { nameIsDNSSubdomain } from '#apimachinery/validation/names';
import { isOptedOut } from '#kubernetes/apis/core/capabilities';
import { podQosClass } from '#kubernetes/apis/core/pod-qos';
import { isSidecar, type ResourceList } from '#kubernetes/apis/core/resource-list';
import type { Container, Pod, PodSpec, ResourceRequirements } from '#kubernetes/schema/core_v1.gen';
import { validateMetaAgain } from './object-meta.ts';
import { optionsFor, restore, validatePodMetadataAndSpec } from './pod.ts';
import { mirrorPod } from './pod-annotations.ts';

const specPath = fieldPath('spec');
const noSpec: PodSpec = {};
const onlyCpuAndMemory = 'only cpu and memory resources are mutable';
const podLevelGate = 'InPlacePodLevelResourcesVerticalScaling';
const podLevelIsOff = `resize of pods with pod-level resources is forbidden when ${podLevelGate}Enabled feature gate is disabled`;

/** Validation of pod resize. Upstream: ValidatePodResize in pkg/apis/core/validation. */
export function validatePodResize(pod: Pod, old: Pod, server: ServerTraits): FieldError[] {
  if (old.metadata.annotations?.[mirrorPod] !== undefined) return [forbidden(fieldPath(''), 'static pods cannot be resized')];
  if (old.spec?.os?.name === 'windows') return [forbidden(fieldPath(''), 'windows pods cannot be resized')];
  const errors: FieldError[] = [];
  const spec = pod.spec ?? noSpec;
  const before = old.spec ?? noSpec;
  validateMetaAgain(errors, pod.metadata, nameIsDNSSubdomain);
  validatePodMetadataAndSpec(errors, pod, spec, optionsFor(old, server));
  if ((old.status?.qosClass || podQosClass(old)) !== podQosClass(pod)) {
    errors.push(invalid(specPath, pod.status?.qosClass ?? '', 'Pod QOS Class may not change as a result of resizing'));
  }
  const running = old.status?.containerStatuses?.find(({ state }) => state?.running);
  if (running && !running.resources) errors.push(forbidden(specPath, 'Pod running on node without support for resize'));
  const munged: PodSpec = { ...spec };
  if (hasPodResources(before) || hasPodResources(spec)) {
    if (isOptedOut(server, podLevelGate)) return [...errors, forbidden(fieldPath(''), podLevelIsOff)];
    validatePodLevelResize(errors, spec, before, munged);
  }
  if (old.status?.nodeAllocatableResourceClaimStatuses?.length)
    errors.push(forbidden(specPath, 'pods with node allocatable resource claims cannot be resized'));
  if (!validateResizeOrder(errors, spec, before)) return errors;
  const resizesInitContainers = !isOptedOut(server, 'InPlacePodVerticalScalingInitContainers');
  for (const list of ['initContainers', 'containers'] as const) {
    for (const [i, container] of (before[list] ?? []).entries()) {
      if (list === 'initContainers' && !resizesInitContainers && !isSidecar(container)) continue;
      const { resources: from } = container;
      const to = spec[list]?.[i]?.resources;
      const at = specPath.child(list).index(i).child('resources');
      if (isAnyRemoved(to?.requests, from?.requests)) errors.push(forbidden(at.child('requests'), 'resource requests cannot be removed'));
      if (isAnyRemoved(to?.limits, from?.limits)) errors.push(forbidden(at.child('limits'), 'resource limits cannot be removed'));
    }
  }
  if (spec.containers) {
    munged.containers = spec.containers.map((container, i) => {
      const result = withoutResize(container, before.containers![i]!);
      if (!semanticDeepEqual(result, before.containers![i])) errors.push(forbidden(specPath, onlyCpuAndMemory));
      return result;
    });
  }
  if (spec.initContainers)
    munged.initContainers = spec.initContainers.map((container, i) => {
      const old = before.initContainers![i]!;
      if (resizesInitContainers || isSidecar(container)) return validateInitResize(errors, container, old, i);
      if (!semanticDeepEqual(container, old)) errors.push(forbidden(specPath, 'resources for non-sidecar init containers are immutable'));
      return container;
    });
  if (errors.length === 0 && !semanticDeepEqual(munged, before)) errors.push(forbidden(specPath, onlyCpuAndMemory));
  return errors;
}

function hasPodResources({ resources }: PodSpec): boolean {
  return Object.keys(resources?.requests ?? {}).length + Object.keys(resources?.limits ?? {}).length > 0;
}

function validateInitResize(errors: FieldError[], container: Container, before: Container, index: number): Container {
  const result = withoutResize(container, before);
  const path = specPath.child('initContainers').index(index);
  if (!semanticDeepEqual(result, before))
    errors.push(forbidden(path, 'only cpu and memory resources for init or sidecar containers are mutable'));
  if (isSidecar(container) || semanticDeepEqual(container, before)) return result;
  for (const { restartPolicy } of container.resizePolicy ?? []) {
    if (restartPolicy === 'RestartContainer')
      errors.push(forbidden(path, 'non-sidecar init containers with a resize policy of RestartContainer cannot be resized'));
  }
  return result;
}

function validateResizeOrder(errors: FieldError[], spec: PodSpec, before: PodSpec): boolean {
  const count = errors.length;
  for (const list of ['containers', 'initContainers'] as const) {
    const now = spec[list] ?? [];
    const old = before[list] ?? [];
    if (now.length !== old.length) errors.push(forbidden(specPath.child(list), `${list} may not be added or removed on resize`));
    else {
      for (const [i, { name }] of old.entries()) {
        if (now[i]!.name !== name)
          errors.push(forbidden(specPath.child(list).index(i).child('name'), `${list} may not be renamed or reordered on resize`));
      }
    }
  }
  return errors.length === count;
}

function validatePodLevelResize(errors: FieldError[], spec: PodSpec, before: PodSpec, munged: PodSpec): void {
  const path = specPath.child('resources');
  if (before.resources && !spec.resources) {
    errors.push(forbidden(path, 'pod-level resources cannot be removed'));
    return;
  }
  if (before.resources) {
    if (isAnyRemoved(spec.resources?.requests, before.resources.requests))
      errors.push(forbidden(path.child('requests'), 'pod-level resource requests cannot be removed'));
    if (isAnyRemoved(spec.resources?.limits, before.resources.limits))
      errors.push(forbidden(path.child('limits'), 'pod-level resource limits cannot be removed'));
  }
  const resources = withoutCpuAndMemory(spec.resources, before.resources);
  const isEmpty = !hasPodResources({ resources }) && !resources.claims?.length;
  if (!before.resources && isEmpty) delete munged.resources;
  else munged.resources = resources;
  if (!semanticDeepEqual(munged.resources, before.resources))
    errors.push(forbidden(specPath, 'only cpu and memory resources are mutable at pod-level'));
}

function isAnyRemoved(list: ResourceList = {}, old: ResourceList = {}): boolean {
  return Object.keys(old).some((name) => !Object.hasOwn(list, name));
}

/** Returns a container with its old cpu and memory. As upstream, its claims are dropped. */
function withoutResize(container: Container, before: Container): Container {
  const { claims: _, ...resources } = withoutCpuAndMemory(container.resources, before.resources);
  return { ...container, resources };
}

function withoutCpuAndMemory(resources: ResourceRequirements = {}, before: ResourceRequirements = {}): ResourceRequirements {
  const result = { ...resources };
  for (const list of ['requests', 'limits'] as const) {
    if (!resources[list] && !before[list]) continue;
    const amounts = { ...resources[list] };
    restore(amounts as { cpu?: string; memory?: string }, { ...before[list] }, 'cpu', 'memory');
    result[list] = amounts;
  }
  return result;
}
