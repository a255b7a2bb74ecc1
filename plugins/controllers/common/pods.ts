import { controllerOf, isControlledBy, kindOf, type KubeObject, type LabelSelector, parseTime, type SharedInformer } from 'kubenest/sdk';
import type { Pod, PodCondition } from 'kubenest/types/core_v1';

/** The pods resource, as a target of clients and informers. */
export const pods = { group: '', version: 'v1', resource: 'pods' } as const;

/** The kind of pods, with the type of its objects. */
export const podKind = kindOf<Pod>({ ...pods, kind: 'Pod' });

export function podReadyCondition({ status }: Pod): PodCondition | undefined {
  return status?.conditions?.find(({ type }) => type === 'Ready');
}

export function isPodReady(pod: Pod): boolean {
  return podReadyCondition(pod)?.status === 'True';
}

/** Returns the time since which the pod is ready, in milliseconds; undefined if it is not ready or the time is unknown. */
export function readySince(pod: Pod): number | undefined {
  const condition = podReadyCondition(pod);
  if (condition?.status !== 'True' || !condition.lastTransitionTime) return undefined;
  return parseTime(condition.lastTransitionTime);
}

/** True if the pod has been ready for the time. Upstream: pkg/api/v1/pod IsPodAvailable. */
export function isPodAvailable(pod: Pod, minReadySeconds: number, nowMs: number): boolean {
  if (!isPodReady(pod)) return false;
  if (minReadySeconds <= 0) return true;
  const since = readySince(pod);
  return since !== undefined && since + minReadySeconds * 1_000 <= nowMs;
}

/** Returns the time until the next pod becomes available, in milliseconds; undefined if no ready pod waits for that. */
export function nextAvailabilityMs(candidates: readonly Pod[], minReadySeconds: number, nowMs: number): number | undefined {
  const waits = candidates.flatMap((pod) => {
    const since = readySince(pod);
    const wait = since === undefined ? 0 : since + minReadySeconds * 1_000 - nowMs;
    return wait > 0 ? [wait] : [];
  });
  return waits.length === 0 ? undefined : Math.min(...waits);
}

/** True if all containers of the pod have ended. */
export function isPodTerminal({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

/** True if the pod has neither ended nor been deleted. */
export function isPodActive(pod: Pod): boolean {
  return !isPodTerminal(pod) && !pod.metadata.deletionTimestamp;
}

/** True if the pod is deleted and still runs. */
export function isPodTerminating(pod: Pod): boolean {
  return !isPodTerminal(pod) && pod.metadata.deletionTimestamp !== undefined;
}

const byController = 'controller';

/** Pods by the object that controls them. Upstream: AddPodControllerIndexer and FilterPodsByOwner of pkg/controller. */
export class ControlledObjects<T extends KubeObject = Pod> {
  constructor(readonly informer: SharedInformer<T>) {
    informer.addIndex(byController, (object) => [controllerOf(object)?.uid ?? orphansOf(object.metadata.namespace)]);
  }

  /** Returns the objects that the owner controls. */
  of(owner: KubeObject): T[] {
    return this.informer.byIndex(byController, owner.metadata.uid as string);
  }

  /** Returns the objects of the owner's namespace without a controller. */
  orphans(owner: KubeObject): T[] {
    return this.informer.byIndex(byController, orphansOf(owner.metadata.namespace));
  }
}

function orphansOf(namespace = ''): string {
  return `/${namespace}`;
}

/** Returns the objects that the owner controls and its selector matches. */
export function claimed<T extends KubeObject>(owner: KubeObject, selector: LabelSelector, objects: readonly T[]): T[] {
  return objects.filter((object) => isControlledBy(object, owner) && selector.matches(object.metadata.labels ?? {}));
}
