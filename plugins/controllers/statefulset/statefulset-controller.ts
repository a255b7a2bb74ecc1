import {
  Clock,
  Controller,
  ControllerClient,
  controllerOf,
  EventRecorder,
  inject,
  isConflict,
  type KubeObject,
  type ReconcileRequest,
  type ReconcileResult,
  type SharedInformer,
  SharedInformers,
  Watches,
} from 'kubenest/sdk';
import type { ControllerRevision, StatefulSet, StatefulSetStatus } from 'kubenest/types/apps_v1';
import type { PersistentVolumeClaim, Pod } from 'kubenest/types/core_v1';
import { asManager } from '../common/as-manager.ts';
import { claimObjects } from '../common/claim.ts';
import { ControlledObjects, nextAvailabilityMs, pods } from '../common/pods.ts';
import { controllerRevisions } from '../common/revisions.ts';
import { selectorOf } from '../../common/selectors.ts';
import { updateStatus } from '../common/update-status.ts';
import { persistentVolumeClaims, StatefulPodControl } from './stateful-pod-control.ts';
import { isMemberOf, statefulSets } from './stateful-pods.ts';
import { constructRevisions, type Revisions, truncateHistory } from './statefulset-history.ts';
import { completed, differs, statusOf } from './statefulset-status.ts';
import { StatefulSetSync } from './statefulset-sync.ts';

/** Runs the pods of StatefulSets, each with a name and claims of its own. Upstream: pkg/controller/statefulset. */
@Controller({
  name: 'statefulset-controller',
  for: statefulSets,
  owns: [pods],
  concurrency: 5,
  ...asManager,
})
export class StatefulSetController {
  readonly #sets: SharedInformer<StatefulSet>;
  readonly #pods: ControlledObjects;
  readonly #revisions: ControlledObjects<ControllerRevision>;
  readonly #control: StatefulPodControl;

  constructor(
    @inject(ControllerClient) private readonly client: ControllerClient,
    @inject(SharedInformers) informers: SharedInformers,
    @inject(EventRecorder) recorder: EventRecorder,
    @inject(Clock) private readonly clock: Clock,
  ) {
    this.#sets = informers.for<StatefulSet>(statefulSets);
    this.#pods = new ControlledObjects(informers.for<Pod>(pods));
    this.#revisions = new ControlledObjects(informers.for<ControllerRevision>(controllerRevisions));
    this.#control = new StatefulPodControl(client, recorder, informers.for<PersistentVolumeClaim>(persistentVolumeClaims));
  }

  /** A StatefulSet may adopt a pod without a controller. */
  @Watches(pods)
  *requestsOfPod(pod: KubeObject): Iterable<ReconcileRequest> {
    if (controllerOf(pod) || pod.metadata.deletionTimestamp) return;
    for (const { metadata, spec } of this.#sets.list(pod.metadata.namespace)) {
      const selector = selectorOf(spec?.selector);
      if (!selector.isEmpty() && selector.matches(pod.metadata.labels ?? {}))
        yield { namespace: metadata.namespace as string, name: metadata.name as string };
    }
  }

  async reconcile({ namespace, name }: ReconcileRequest): Promise<ReconcileResult> {
    const set = this.#sets.get(namespace, name);
    if (!set) return {};
    try {
      return await this.#sync(set);
    } catch (error) {
      // The informers do not have the newest state yet.
      if (isConflict(error)) return { requeue: true };
      throw error;
    }
  }

  async #sync(set: StatefulSet): Promise<ReconcileResult> {
    const { client } = this;
    const selector = selectorOf(set.spec?.selector);
    const claim = { client, ownerResource: statefulSets };
    const matching = [...this.#revisions.of(set), ...this.#revisions.orphans(set)].filter(({ metadata }) =>
      selector.matches(metadata.labels ?? {}),
    );
    const history = await claimObjects({ ...claim, target: controllerRevisions }, set, selector, matching);
    const candidates = [...this.#pods.of(set), ...this.#pods.orphans(set)];
    const isMember = (pod: KubeObject): boolean => isMemberOf(set, pod as Pod);
    const owned = await claimObjects({ ...claim, target: pods, isMember }, set, selector, candidates);
    const revisions = await constructRevisions(client, set, history);
    const nowMs = this.clock.wallTime();
    const status = await this.#syncPods(set, revisions, owned, nowMs).finally(() =>
      truncateHistory(client, set, history, revisions, owned),
    );
    const minReadySeconds = set.spec?.minReadySeconds ?? 0;
    if (minReadySeconds === 0 || status.readyReplicas === status.availableReplicas) return {};
    return { requeueAfterMs: nextAvailabilityMs(owned, minReadySeconds, nowMs) ?? minReadySeconds * 1_000 };
  }

  /** Acts on the pods and writes the status, also after a failure. */
  async #syncPods(set: StatefulSet, revisions: Revisions, owned: readonly Pod[], nowMs: number): Promise<StatefulSetStatus> {
    const sync = new StatefulSetSync(this.#control, set, revisions, owned, nowMs);
    let status = statusOf(set, revisions, owned, nowMs);
    try {
      await sync.run();
    } finally {
      status = completed(set, { ...status, currentReplicas: (status.currentReplicas ?? 0) - sync.deletedForUpdate });
      if (differs(set, status)) await updateStatus(this.client, statefulSets, set, status);
    }
    return status;
  }
}
