import type { Deployment, ReplicaSet } from 'kubenest/types/apps_v1';
import { scaledValue } from '../common/int-or-percent.ts';

/** Numbers of replicas during a rollout. Upstream: pkg/controller/deployment/util/deployment_util.go. */
export const desiredAnnotation = 'deployment.kubernetes.io/desired-replicas';
export const maxAnnotation = 'deployment.kubernetes.io/max-replicas';

export function replicasOf({ spec }: ReplicaSet | Deployment): number {
  return spec?.replicas ?? 1;
}

export function isActive(set: ReplicaSet): boolean {
  return replicasOf(set) > 0;
}

/** Returns the sum of the desired replicas of the sets. */
export function totalReplicas(sets: readonly ReplicaSet[]): number {
  return sets.reduce((sum, set) => sum + replicasOf(set), 0);
}

type Count = 'replicas' | 'readyReplicas' | 'availableReplicas';

/** Returns the sum of a number in the statuses of the sets. */
export function sumOf(sets: readonly ReplicaSet[], count: Count): number {
  return sets.reduce((sum, { status }) => sum + (status?.[count] ?? 0), 0);
}

export function isRollingUpdate({ spec }: Deployment): boolean {
  return spec?.strategy?.type === 'RollingUpdate';
}

/** Returns both limits of a rolling update. If both round to 0, one pod may be unavailable, because nothing could change otherwise. */
function limits(deployment: Deployment): { readonly surge: number; readonly unavailable: number } {
  const { maxSurge, maxUnavailable } = deployment.spec?.strategy?.rollingUpdate ?? {};
  const desired = replicasOf(deployment);
  const surge = scaledValue(maxSurge, desired, 'up');
  const unavailable = scaledValue(maxUnavailable, desired, 'down');
  return { surge, unavailable: surge === 0 && unavailable === 0 ? 1 : unavailable };
}

export function maxSurge(deployment: Deployment): number {
  return isRollingUpdate(deployment) ? limits(deployment).surge : 0;
}

export function maxUnavailable(deployment: Deployment): number {
  const desired = replicasOf(deployment);
  return isRollingUpdate(deployment) && desired > 0 ? Math.min(limits(deployment).unavailable, desired) : 0;
}

/** Returns the largest number of pods at a time. */
export function maxReplicas(deployment: Deployment): number {
  return replicasOf(deployment) + maxSurge(deployment);
}

/** Returns the number of replicas that the new set may have now. `all` contains the new set. */
export function newSetReplicas(deployment: Deployment, all: readonly ReplicaSet[], newReplicas: number): number {
  const desired = replicasOf(deployment);
  if (!isRollingUpdate(deployment)) return desired;
  const room = desired + scaledValue(deployment.spec?.strategy?.rollingUpdate?.maxSurge, desired, 'up') - totalReplicas(all);
  return room <= 0 ? newReplicas : newReplicas + Math.min(room, desired - newReplicas);
}

/** Returns the value of an annotation with a number of replicas; undefined for an invalid one. */
export function replicasAnnotation({ metadata }: ReplicaSet, name: string): number | undefined {
  const text = metadata.annotations?.[name];
  if (text === undefined || !/^\d+$/.test(text)) return undefined;
  const value = Number(text);
  return value <= 0x7fffffff ? value : undefined;
}

/** True if the new set has all its replicas, and they are available. */
export function isSaturated(deployment: Deployment, set: ReplicaSet | undefined): boolean {
  const desired = replicasOf(deployment);
  return (
    set !== undefined &&
    replicasOf(set) === desired &&
    replicasAnnotation(set, desiredAnnotation) === desired &&
    (set.status?.availableReplicas ?? 0) === desired
  );
}

/** Returns the replicas to add to a set when the deployment is scaled, in proportion to its size. Negative: to remove. */
function fraction(deployment: Deployment, set: ReplicaSet): number {
  const size = replicasOf(set);
  if (replicasOf(deployment) === 0) return -size;
  const before = replicasAnnotation(set, maxAnnotation) || deployment.status?.replicas || 0;
  if (before === 0) return 0;
  return roundHalfAway((size * maxReplicas(deployment)) / before) - size;
}

/** Rounds like Go's integer.RoundToInt32: halves away from zero. */
function roundHalfAway(value: number): number {
  return value < 0 ? Math.trunc(value - 0.5) : Math.trunc(value + 0.5);
}

/**
 * Distributes the replicas of a deployment that is scaled during a rollout over its active sets. Returns the new size of each set, the
 * largest set first, which takes what remains. Upstream: the last part of DeploymentController.scale.
 */
export function proportionalSizes(deployment: Deployment, active: readonly ReplicaSet[]): [ReplicaSet, number][] {
  const allowed = replicasOf(deployment) > 0 ? maxReplicas(deployment) : 0;
  const toAdd = allowed - totalReplicas(active);
  const order = toAdd > 0 ? -1 : 1;
  const sorted = toAdd === 0 ? [...active] : active.toSorted((a, b) => replicasOf(b) - replicasOf(a) || order * compareCreation(a, b));
  let added = 0;
  const sizes = sorted.map((set): [ReplicaSet, number] => {
    const rest = toAdd - added;
    const share = rest === 0 ? 0 : toAdd > 0 ? Math.min(fraction(deployment, set), rest) : Math.max(fraction(deployment, set), rest);
    added += share;
    return [set, replicasOf(set) + share];
  });
  const [largest] = sizes;
  if (largest && toAdd !== 0) largest[1] = Math.max(0, largest[1] + toAdd - added);
  return sizes;
}

/** Compares by creation, older ones first, and by name. */
export function compareCreation({ metadata: a }: ReplicaSet, { metadata: b }: ReplicaSet): number {
  const [createdA, createdB] = [a.creationTimestamp ?? '', b.creationTimestamp ?? ''];
  if (createdA !== createdB) return createdA < createdB ? -1 : 1;
  return (a.name as string) < (b.name as string) ? -1 : 1;
}

/** A set and the size that it shall get. */
export type Scaling = readonly [ReplicaSet, number];

/**
 * Returns the old sets to scale down in a step of a rolling update: first their pods that are not available, then
 * others as far as enough pods remain available. A set may occur twice. Upstream: reconcileOldReplicaSets.
 */
export function oldSetScalings(deployment: Deployment, newSet: ReplicaSet, old: readonly ReplicaSet[]): Scaling[] {
  const active = old.filter(isActive).sort(compareCreation);
  const all = [...active, newSet];
  const minAvailable = replicasOf(deployment) - maxUnavailable(deployment);
  const newUnavailable = replicasOf(newSet) - (newSet.status?.availableReplicas ?? 0);
  const removable = totalReplicas(all) - minAvailable - newUnavailable;
  if (active.length === 0 || removable <= 0) return [];
  const sizes = new Map(active.map((set) => [set, replicasOf(set)]));
  const result: Scaling[] = [];
  const scaleDown = (limit: number, most: (set: ReplicaSet, size: number) => number): void => {
    let rest = limit;
    for (const [set, size] of sizes) {
      const count = Math.max(0, Math.min(rest, most(set, size)));
      if (count === 0) continue;
      rest -= count;
      sizes.set(set, size - count);
      result.push([set, size - count]);
    }
  };
  scaleDown(removable, (set, size) => size - (set.status?.availableReplicas ?? 0));
  scaleDown(sumOf(all, 'availableReplicas') - minAvailable, (_, size) => size);
  return result;
}
