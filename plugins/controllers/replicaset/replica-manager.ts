import {
  type Clock,
  type ControlledResource,
  type ControllerClient,
  controllerOf,
  type EventRecorder,
  Expectations,
  keyOf,
  type KubeObject,
  type LabelSelector,
  newControllerReference,
  type ReconcileRequest,
  type ReconcileResult,
  type SharedInformer,
  type SharedInformers,
} from 'kubenest/sdk';
import type { ReplicaSetStatus } from 'kubenest/types/apps_v1';
import type { Pod, PodTemplateSpec } from 'kubenest/types/core_v1';
import { claimed, ControlledObjects, isPodActive, isPodTerminating, nextAvailabilityMs, pods } from '../common/pods.ts';
import { claimObjects } from '../common/claim.ts';
import { observePods } from '../common/expected-pods.ts';
import { isNamespaceTerminating } from '../common/namespace-terminating.ts';
import { PodControl, podFromTemplate } from '../common/pod-control.ts';
import { slowStart } from '../common/slow-start.ts';
import { updateStatus } from '../common/update-status.ts';
import { podsToDelete } from '../common/deletion-order.ts';
import { isUpToDate, type ReplicaState, statusOf } from './replica-status.ts';

/** Largest number of pods created or deleted at a time for one set. Upstream: BurstReplicas. */
const burst = 500;

/** ReplicaSet or ReplicationController. */
export interface ReplicatedObject extends KubeObject {
  spec?: { replicas?: number; minReadySeconds?: number; template?: PodTemplateSpec };
  status?: ReplicaSetStatus;
}

/** Differences between the kinds. */
export interface ReplicatedKind<T extends ReplicatedObject> {
  readonly resource: ControlledResource;
  readonly hasTerminatingReplicas: boolean;
  selectorOf(object: T): LabelSelector;
}

/**
 * Keeps the number of pods of a set at the number of replicas, and counts them in its status. ReplicaSets and ReplicationControllers differ
 * only in their form. Upstream: pkg/controller/replicaset.
 */
export class ReplicaManager<T extends ReplicatedObject> {
  readonly #sets: SharedInformer<T>;
  readonly #setsByController: ControlledObjects<T>;
  readonly #pods: ControlledObjects;
  readonly #control: PodControl;
  /** Keys are the UIDs of the sets. */
  readonly #expectations: Expectations;

  constructor(
    readonly kind: ReplicatedKind<T>,
    readonly client: ControllerClient,
    informers: SharedInformers,
    recorder: EventRecorder,
    readonly clock: Clock,
  ) {
    this.#sets = informers.for<T>(kind.resource);
    this.#setsByController = new ControlledObjects(this.#sets);
    this.#pods = new ControlledObjects(informers.for<Pod>(pods));
    this.#control = new PodControl(client, recorder);
    this.#expectations = new Expectations(clock);
  }

  /** Returns the sets that may adopt an orphan that appeared or changed its labels or its controller. */
  *requestsOfOrphan(pod: KubeObject): Iterable<ReconcileRequest> {
    if (controllerOf(pod) || pod.metadata.deletionTimestamp) return;
    for (const set of this.#sets.list(pod.metadata.namespace)) {
      const { namespace = '', name = '' } = set.metadata;
      const selector = this.kind.selectorOf(set);
      if (!selector.isEmpty() && selector.matches(pod.metadata.labels ?? {})) yield { namespace, name };
    }
  }

  run(signal: AbortSignal): Promise<void> {
    return observePods(this.#pods.informer, this.#sets as unknown as SharedInformer, this.#expectations, signal);
  }

  async reconcile({ namespace, name }: ReconcileRequest): Promise<ReconcileResult> {
    const set = this.#sets.get(namespace, name);
    if (!set) return {};
    const mayManage = this.#expectations.satisfied(set.metadata.uid as string) && !set.metadata.deletionTimestamp;
    const selector = this.kind.selectorOf(set);
    const owned = this.#pods.of(set);
    const candidates = [...owned, ...this.#pods.orphans(set)].filter(isPodActive);
    const claim = { client: this.client, ownerResource: this.kind.resource, target: pods };
    const active = await claimObjects(claim, set, selector, candidates);
    const error = mayManage ? await this.#manage(set, active) : undefined;
    const terminating = this.kind.hasTerminatingReplicas ? claimed(set, selector, owned.filter(isPodTerminating)).length : undefined;
    const nowMs = this.clock.wallTime();
    const state = stateOf(set);
    const status = statusOf(state, active, terminating, error, nowMs);
    if (!isUpToDate(state, status))
      await updateStatus(this.client, this.kind.resource, set, { ...status, observedGeneration: state.generation });
    if (error) throw error;
    const isWaiting = state.minReadySeconds > 0 && status.readyReplicas !== status.availableReplicas;
    if (!isWaiting) return {};
    return { requeueAfterMs: nextAvailabilityMs(active, state.minReadySeconds, nowMs) ?? state.minReadySeconds * 1_000 };
  }

  /** Creates or deletes pods. Returns the error of the first attempt that failed. */
  async #manage(set: T, active: readonly Pod[]): Promise<Error | undefined> {
    const difference = active.length - (set.spec?.replicas ?? 1);
    if (difference < 0) return this.#create(set, Math.min(-difference, burst));
    if (difference > 0) return this.#delete(set, active, Math.min(difference, burst));
    return undefined;
  }

  async #create(set: T, count: number): Promise<Error | undefined> {
    const uid = set.metadata.uid as string;
    const reference = newControllerReference(set, this.kind.resource);
    this.#expectations.expectCreations(uid, count);
    const { successes, error } = await slowStart(count, async () => {
      try {
        await this.#control.create(set, podFromTemplate(set.spec?.template ?? {}, set, reference));
      } catch (failed) {
        // Every creation in this namespace will fail, and the set will be deleted.
        if (!isNamespaceTerminating(failed)) throw failed;
        this.#expectations.created(uid);
      }
    });
    for (let i = successes; i < count; i++) this.#expectations.created(uid);
    return error;
  }

  async #delete(set: T, active: readonly Pod[], count: number): Promise<Error | undefined> {
    const uid = set.metadata.uid as string;
    const chosen = podsToDelete(active, this.#related(set), count, this.clock.wallTime());
    this.#expectations.expectDeletions(uid, chosen.map(keyOf));
    const results = await Promise.allSettled(
      chosen.map(async (pod) => {
        let isDeleted = false;
        try {
          isDeleted = await this.#control.delete(set, pod);
        } finally {
          if (!isDeleted) this.#expectations.deleted(uid, keyOf(pod));
        }
      }),
    );
    return results.find((result) => result.status === 'rejected')?.reason;
  }

  /** Returns the pods of all sets with the same controller. */
  #related(set: T): Pod[] {
    const controller = controllerOf(set);
    if (!controller) return [];
    const selectors = this.#setsByController
      .of({ metadata: { uid: controller.uid } } as KubeObject)
      .map((related) => this.kind.selectorOf(related));
    return this.#pods.informer
      .list(set.metadata.namespace)
      .filter(({ metadata }) => selectors.some((selector) => selector.matches(metadata.labels ?? {})));
  }
}

function stateOf({ metadata, spec, status }: ReplicatedObject): ReplicaState {
  return {
    replicas: spec?.replicas ?? 1,
    minReadySeconds: spec?.minReadySeconds ?? 0,
    template: spec?.template ?? {},
    generation: metadata.generation ?? 0,
    status: status ?? {},
  };
}
