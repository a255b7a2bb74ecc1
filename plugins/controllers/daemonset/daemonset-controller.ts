import {
  Clock,
  Controller,
  ControllerClient,
  controllerOf,
  deepEqual,
  EventRecorder,
  Expectations,
  inject,
  isConflict,
  keyOf,
  type KubeObject,
  newControllerReference,
  type ReconcileRequest,
  type ReconcileResult,
  type SharedInformer,
  SharedInformers,
  Watches,
} from 'kubenest/sdk';
import type { ControllerRevision, DaemonSet } from 'kubenest/types/apps_v1';
import type { Node, Pod } from 'kubenest/types/core_v1';
import { asManager } from '../common/as-manager.ts';
import { claimObjects } from '../common/claim.ts';
import { observePods } from '../common/expected-pods.ts';
import { isNamespaceTerminating } from '../common/namespace-terminating.ts';
import { PodControl, podFromTemplate } from '../common/pod-control.ts';
import { ControlledObjects, isPodTerminal, pods } from '../common/pods.ts';
import { controllerRevisions } from '../common/revisions.ts';
import { selectorOf } from '../../common/selectors.ts';
import { slowStart } from '../common/slow-start.ts';
import { updateStatus } from '../common/update-status.ts';
import { affinityTo, fitOf, targetNode, templateOf } from './daemon-pods.ts';
import { DaemonSetHistory, daemonSets } from './daemonset-history.ts';
import { FailedPodBackoff } from './failed-pod-backoff.ts';
import { countsOf, type DaemonPlan, type DaemonState, hasCounts, planNodes, planUpdate } from './node-plan.ts';

const nodes = { group: '', version: 'v1', resource: 'nodes' } as const;
/** Largest number of pods created or deleted at a time. Upstream: BurstReplicas. */
const burst = 250;

/** Runs a pod of each DaemonSet on each node that fits. Upstream: pkg/controller/daemon. */
@Controller({
  name: 'daemonset-controller',
  serviceAccount: 'daemon-set-controller',
  for: daemonSets,
  owns: [pods, controllerRevisions],
  concurrency: 2,
  ...asManager,
})
export class DaemonSetController {
  readonly #daemonSets: SharedInformer<DaemonSet>;
  readonly #nodes: SharedInformer<Node>;
  readonly #pods: ControlledObjects;
  readonly #revisions: ControlledObjects<ControllerRevision>;
  readonly #control: PodControl;
  /** Keys are the UIDs of the DaemonSets. */
  readonly #expectations: Expectations;
  readonly #backoff: FailedPodBackoff;

  constructor(
    @inject(ControllerClient) private readonly client: ControllerClient,
    @inject(SharedInformers) informers: SharedInformers,
    @inject(EventRecorder) private readonly recorder: EventRecorder,
    @inject(Clock) private readonly clock: Clock,
  ) {
    this.#daemonSets = informers.for<DaemonSet>(daemonSets);
    this.#nodes = informers.for<Node>(nodes);
    this.#pods = new ControlledObjects(informers.for<Pod>(pods));
    this.#revisions = new ControlledObjects(informers.for<ControllerRevision>(controllerRevisions));
    this.#control = new PodControl(client, recorder);
    this.#expectations = new Expectations(clock);
    this.#backoff = new FailedPodBackoff(clock);
  }

  /** A DaemonSet may adopt a pod or a revision without a controller. */
  @Watches(pods)
  @Watches(controllerRevisions)
  *requestsOfOrphan(object: KubeObject): Iterable<ReconcileRequest> {
    if (controllerOf(object) || object.metadata.deletionTimestamp) return;
    for (const { metadata, spec } of this.#daemonSets.list(object.metadata.namespace)) {
      const selector = selectorOf(spec?.selector);
      if (!selector.isEmpty() && selector.matches(object.metadata.labels ?? {}))
        yield { namespace: metadata.namespace as string, name: metadata.name as string };
    }
  }

  /** Reconciles the DaemonSets for which the labels or taints of a node matter. */
  @Watches(nodes)
  *requestsOfNode(node: Node, old: Node | undefined): Iterable<ReconcileRequest> {
    const isSame = old && deepEqual(node.metadata.labels, old.metadata.labels) && deepEqual(node.spec?.taints, old.spec?.taints);
    if (isSame) return;
    for (const daemonSet of this.#daemonSets.list()) {
      const { shouldRun, mayRemain } = fitOf(daemonSet, node);
      const isScheduled = this.#pods.of(daemonSet).some((pod) => targetNode(pod) === node.metadata.name);
      const isWrong = isScheduled ? !mayRemain || (daemonSet.status?.numberMisscheduled ?? 0) > 0 : shouldRun;
      if (isWrong) yield { namespace: daemonSet.metadata.namespace as string, name: daemonSet.metadata.name as string };
    }
  }

  run(signal: AbortSignal): Promise<void> {
    return observePods(this.#pods.informer, this.#daemonSets as unknown as SharedInformer, this.#expectations, signal);
  }

  async reconcile({ namespace, name }: ReconcileRequest): Promise<ReconcileResult> {
    const daemonSet = this.#daemonSets.get(namespace, name);
    if (!daemonSet || daemonSet.metadata.deletionTimestamp) return {};
    if (selectorOf(daemonSet.spec?.selector).isEmpty()) {
      const message = 'This daemon set is selecting all pods. A non-empty selector is required.';
      this.recorder.event(daemonSet, 'Warning', 'SelectingAll', message);
      return {};
    }
    try {
      const requeueAfterMs = await this.#sync(daemonSet);
      return requeueAfterMs === undefined ? {} : { requeueAfterMs };
    } catch (error) {
      // The informers do not have the newest state yet.
      if (isConflict(error)) return { requeue: true };
      throw error;
    }
  }

  async #sync(daemonSet: DaemonSet): Promise<number | undefined> {
    const uid = daemonSet.metadata.uid as string;
    const isInformed = this.#expectations.satisfied(uid);
    const owned = await this.#claim<Pod>(daemonSet, pods, this.#pods);
    const revisions = await this.#claim<ControllerRevision>(daemonSet, controllerRevisions, this.#revisions);
    const history = new DaemonSetHistory(this.client, daemonSet, owned);
    const { hash, old } = await history.construct(revisions);
    if (!isInformed) return this.#writeStatus(this.#stateOf(daemonSet, owned, hash), false);
    let retryMs: number | undefined;
    try {
      const state = this.#stateOf(daemonSet, owned, hash);
      const plan = planNodes(state, (pod, node) => {
        const waitMs = this.#mayDeleteAfterMs(daemonSet, pod, node);
        if (waitMs > 0) retryMs = Math.min(waitMs, retryMs ?? waitMs);
        return waitMs === 0;
      });
      await this.#apply(daemonSet, hash, plan);
      const isRolling = daemonSet.spec?.updateStrategy?.type === 'RollingUpdate';
      if (isRolling && this.#expectations.satisfied(uid)) await this.#apply(daemonSet, hash, planUpdate(this.#currentState(state)));
      await history.cleanUp(old);
    } finally {
      const checkMs = await this.#writeStatus(this.#currentState(this.#stateOf(daemonSet, owned, hash)), true);
      if (checkMs !== undefined) retryMs = Math.min(checkMs, retryMs ?? checkMs);
    }
    return retryMs;
  }

  #claim<T extends KubeObject>(
    daemonSet: DaemonSet,
    target: typeof pods | typeof controllerRevisions,
    objects: ControlledObjects<T>,
  ): Promise<T[]> {
    const claim = { client: this.client, ownerResource: daemonSets, target };
    const candidates = [...objects.of(daemonSet), ...objects.orphans(daemonSet)];
    return claimObjects(claim, daemonSet, selectorOf(daemonSet.spec?.selector), candidates);
  }

  #stateOf(daemonSet: DaemonSet, owned: readonly Pod[], hash: string): DaemonState {
    const podsByNode = new Map<string, Pod[]>();
    for (const pod of owned) {
      const node = targetNode(pod);
      if (node === undefined || (isPodTerminal(pod) && pod.metadata.deletionTimestamp)) continue;
      podsByNode.set(node, [...(podsByNode.get(node) ?? []), pod]);
    }
    return { daemonSet, nodes: this.#nodes.list(), podsByNode, hash, nowMs: this.clock.wallTime() };
  }

  /** Returns the state with the pods that the informer has now. */
  #currentState({ daemonSet, hash }: DaemonState): DaemonState {
    const selector = selectorOf(daemonSet.spec?.selector);
    const owned = this.#pods.of(daemonSet).filter(({ metadata }) => selector.matches(metadata.labels ?? {}));
    return this.#stateOf(daemonSet, owned, hash);
  }

  /** Returns the time until a pod that has ended may be deleted, and reports its deletion if that is now. */
  #mayDeleteAfterMs(daemonSet: DaemonSet, { metadata, status }: Pod, node: string): number {
    const text = `daemon pod ${metadata.namespace}/${metadata.name} on node ${node}, will try to`;
    if (status?.phase === 'Succeeded') {
      this.recorder.event(daemonSet, 'Normal', 'SucceededDaemonPod', `Found succeeded ${text} delete it`);
      return 0;
    }
    const waitMs = this.#backoff.next(daemonSet, node);
    if (waitMs === 0) this.recorder.event(daemonSet, 'Warning', 'FailedDaemonPod', `Found failed ${text} kill it`);
    return waitMs;
  }

  async #apply(daemonSet: DaemonSet, hash: string, { deletions, creations }: DaemonPlan): Promise<void> {
    const created = await this.#create(daemonSet, hash, creations.slice(0, burst));
    const deleted = await this.#delete(daemonSet, deletions.slice(0, burst));
    const error = created ?? deleted;
    if (error) throw error;
  }

  async #create(daemonSet: DaemonSet, hash: string, names: readonly string[]): Promise<Error | undefined> {
    const uid = daemonSet.metadata.uid as string;
    const template = templateOf(daemonSet, hash);
    const reference = newControllerReference(daemonSet, daemonSets);
    this.#expectations.expectCreations(uid, names.length);
    const { successes, error } = await slowStart(names.length, async (at) => {
      const pod = podFromTemplate(template, daemonSet, reference);
      pod.spec = { ...pod.spec, affinity: affinityTo(names[at] as string, pod.spec?.affinity) };
      try {
        await this.#control.create(daemonSet, pod);
      } catch (failed) {
        // Every creation in this namespace will fail, and the DaemonSet will be deleted.
        if (!isNamespaceTerminating(failed)) throw failed;
        this.#expectations.created(uid);
      }
    });
    for (let i = successes; i < names.length; i++) this.#expectations.created(uid);
    return error;
  }

  async #delete(daemonSet: DaemonSet, deleted: readonly Pod[]): Promise<Error | undefined> {
    const uid = daemonSet.metadata.uid as string;
    this.#expectations.expectDeletions(uid, deleted.map(keyOf));
    const results = await Promise.allSettled(
      deleted.map(async (pod) => {
        let isDeleted = false;
        try {
          isDeleted = await this.#control.delete(daemonSet, pod);
        } finally {
          if (!isDeleted) this.#expectations.deleted(uid, keyOf(pod));
        }
      }),
    );
    return results.find((result) => result.status === 'rejected')?.reason;
  }

  /** Returns the time after which ready pods may have become available. */
  async #writeStatus(state: DaemonState, isObserved: boolean): Promise<number | undefined> {
    const { daemonSet } = state;
    const { metadata, spec, status } = daemonSet;
    const counts = countsOf(state);
    if (!hasCounts(status, counts) || (status?.observedGeneration ?? 0) < (metadata.generation ?? 0)) {
      const observedGeneration = isObserved ? metadata.generation : status?.observedGeneration;
      const next = { ...status, ...counts, ...(observedGeneration !== undefined && { observedGeneration }) };
      await updateStatus(this.client, daemonSets, daemonSet, next);
    }
    const isWaiting = (spec?.minReadySeconds ?? 0) > 0 && counts.numberReady !== counts.numberAvailable;
    return isWaiting ? (spec?.minReadySeconds ?? 0) * 1_000 : undefined;
  }
}
