import type { StatefulSet } from 'kubenest/types/apps_v1';
import type { Pod } from 'kubenest/types/core_v1';
import { scaledValue } from '../common/int-or-percent.ts';
import { isPodAvailable, isPodReady, isPodTerminal } from '../common/pods.ts';
import { templateOfRevision } from '../common/revisions.ts';
import { slowStart } from '../common/slow-start.ts';
import type { StatefulPodControl } from './stateful-pod-control.ts';
import {
  hasIdentity,
  hasStorage,
  isBeforeUpdate,
  isCreated,
  isInRange,
  isParallel,
  isUnavailable,
  newPod,
  ordinalOf,
  replicasOf,
  revisionOf,
  startOf,
} from './stateful-pods.ts';
import type { Revisions } from './statefulset-history.ts';

/** Outcome for one pod: `wait` ends an ordered reconcile. */
type Step = 'next' | 'wait';

/** Largest number of pods planned in one reconcile: a set may require 2^31 - 1 replicas. */
const maxPlanned = 500;

/**
 * One reconcile of the pods of a StatefulSet: replicas are created, replaced and updated, and surplus ones deleted, in order or at the same
 * time. Upstream: updateStatefulSet of pkg/controller/statefulset/stateful_set_control.go.
 */
export class StatefulSetSync {
  /** The pods by ordinal; those that do not exist are planned. They end before the set does if `isPartial`. */
  readonly replicas: readonly Pod[];
  readonly isPartial: boolean;
  /** Surplus pods, the highest ordinal first. */
  readonly condemned: readonly Pod[];
  /** Number of pods deleted for the update, which the status does not count as current any more. */
  deletedForUpdate = 0;
  /** Set with the template of the update, or of before it. */
  readonly #updateSet: StatefulSet;

  constructor(
    readonly control: StatefulPodControl,
    readonly set: StatefulSet,
    readonly revisions: Revisions,
    pods: readonly Pod[],
    readonly nowMs: number,
  ) {
    const { current, update } = revisions;
    const withTemplate = (revision: typeof current): StatefulSet => ({
      ...set,
      spec: { ...set.spec, template: templateOfRevision(revision) },
    });
    this.#updateSet = withTemplate(update);
    const currentSet = withTemplate(current);
    const byOrdinal = new Map(pods.map((pod) => [ordinalOf(pod), pod]));
    const planned = (ordinal: number): Pod =>
      isBeforeUpdate(set, ordinal)
        ? newPod(currentSet, ordinal, current.metadata.name as string)
        : newPod(this.#updateSet, ordinal, update.metadata.name as string);
    const replicas: Pod[] = [];
    let missing = 0;
    const end = startOf(set) + replicasOf(set);
    for (let ordinal = startOf(set); ordinal < end && missing < maxPlanned; ordinal++) {
      const present = byOrdinal.get(ordinal);
      if (!present) missing += 1;
      replicas.push(present ?? planned(ordinal));
    }
    this.replicas = replicas;
    this.isPartial = replicas.length < replicasOf(set);
    this.condemned = pods.filter((pod) => !isInRange(set, pod) && ordinalOf(pod) >= 0).sort((a, b) => ordinalOf(b) - ordinalOf(a));
  }

  /** Acts on the pods as far as their order permits. */
  async run(): Promise<void> {
    if (this.set.metadata.deletionTimestamp) return;
    if (await this.#forEach(this.replicas, (pod) => this.#keep(pod))) return;
    // The changes of the pods lead to the next reconcile.
    if (this.isPartial) return;
    if (await this.#forEach(this.condemned, (pod) => this.#keepClaims(pod))) return;
    if (await this.#forEach(this.condemned, (pod) => this.#remove(pod))) return;
    await this.#update();
  }

  /** Calls `act` for each pod, one after the other until one waits, or several at a time. Returns true if it stopped early. */
  async #forEach(pods: readonly Pod[], act: (pod: Pod) => Promise<Step>): Promise<boolean> {
    if (isParallel(this.set)) {
      const { error } = await slowStart(pods.length, (at) => act(pods[at] as Pod));
      if (error) throw error;
      return false;
    }
    for (const pod of pods) if ((await act(pod)) === 'wait') return true;
    return false;
  }

  #isAvailable(pod: Pod): boolean {
    return isPodAvailable(pod, this.set.spec?.minReadySeconds ?? 0, this.nowMs);
  }

  async #keep(pod: Pod): Promise<Step> {
    const { control, set } = this;
    const isOrdered = !isParallel(set);
    if (isPodTerminal(pod)) {
      if (!pod.metadata.deletionTimestamp) await control.delete(set, pod);
      return 'wait';
    }
    if (!isCreated(pod)) {
      if (control.hasStaleClaim(set, pod)) return 'wait';
      await control.create(set, pod);
      return 'wait';
    }
    if (pod.status?.phase === 'Pending') {
      await control.createClaims(set, pod);
      await control.updateClaims(set, pod);
    }
    const isRunning = pod.status?.phase === 'Running' && isPodReady(pod) && this.#isAvailable(pod);
    if (isOrdered && (pod.metadata.deletionTimestamp || !isRunning)) return 'wait';
    if (!hasIdentity(set, pod) || !hasStorage(set, pod) || !control.hasClaimOwners(this.#updateSet, pod))
      await control.update(this.#updateSet, pod);
    return 'next';
  }

  async #keepClaims(pod: Pod): Promise<Step> {
    if (!this.control.hasClaimOwners(this.#updateSet, pod)) await this.control.updateClaims(this.#updateSet, pod);
    return 'next';
  }

  /** Deletes a surplus pod. In order, the others must be available, apart from the first one that is not. */
  async #remove(pod: Pod): Promise<Step> {
    const isOrdered = !isParallel(this.set);
    if (pod.metadata.deletionTimestamp) return isOrdered ? 'wait' : 'next';
    const isRunning = pod.status?.phase === 'Running' && isPodReady(pod) && this.#isAvailable(pod);
    if (isOrdered && !isRunning && pod !== this.#firstUnavailable()) return 'wait';
    await this.control.delete(this.set, pod);
    return 'wait';
  }

  #firstUnavailable(): Pod | undefined {
    return [...this.replicas, ...this.condemned.toReversed()].find((pod) => isUnavailable(this.set, pod, this.nowMs));
  }

  /** Deletes pods with an older template, the highest ordinal first, as far as enough pods remain available. */
  async #update(): Promise<void> {
    const { type, rollingUpdate } = this.set.spec?.updateStrategy ?? {};
    if (type === 'OnDelete') return;
    const candidates = this.replicas.slice(rollingUpdate?.partition ?? 0).reverse();
    const limit = rollingUpdate?.maxUnavailable;
    if (limit === undefined) return this.#updateOne(candidates);
    const allowed = Math.max(1, scaledValue(limit, this.replicas.length, 'down'));
    const unavailable = this.replicas.filter((pod) => isUnavailable(this.set, pod, this.nowMs)).length;
    const outdated = candidates.filter((pod) => this.#isOutdated(pod));
    for (const pod of outdated.slice(0, Math.max(0, allowed - unavailable))) await this.#replace(pod);
  }

  async #updateOne(candidates: readonly Pod[]): Promise<void> {
    for (const pod of candidates) {
      if (this.#isOutdated(pod)) return this.#replace(pod);
      if (isUnavailable(this.set, pod, this.nowMs)) return;
    }
  }

  #isOutdated(pod: Pod): boolean {
    return revisionOf(pod) !== this.revisions.update.metadata.name && !pod.metadata.deletionTimestamp;
  }

  async #replace(pod: Pod): Promise<void> {
    await this.control.delete(this.set, pod);
    this.deletedForUpdate += 1;
  }
}
