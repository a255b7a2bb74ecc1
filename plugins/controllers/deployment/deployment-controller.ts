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
import type { Deployment, ReplicaSet } from 'kubenest/types/apps_v1';
import type { Pod } from 'kubenest/types/core_v1';
import { asManager } from '../common/as-manager.ts';
import { claimObjects } from '../common/claim.ts';
import { ControlledObjects, pods } from '../common/pods.ts';
import { selectorOf } from '../../common/selectors.ts';
import { deployments, replicaSets, Rollout } from './rollout.ts';

/** Rolls out the templates of Deployments by ReplicaSets. Upstream: pkg/controller/deployment. */
@Controller({
  name: 'deployment-controller',
  for: deployments,
  owns: [replicaSets],
  concurrency: 5,
  ...asManager,
})
export class DeploymentController {
  readonly #deployments: SharedInformer<Deployment>;
  readonly #sets: ControlledObjects<ReplicaSet>;
  readonly #pods: ControlledObjects;

  constructor(
    @inject(ControllerClient) private readonly client: ControllerClient,
    @inject(SharedInformers) informers: SharedInformers,
    @inject(EventRecorder) private readonly recorder: EventRecorder,
    @inject(Clock) private readonly clock: Clock,
  ) {
    this.#deployments = informers.for<Deployment>(deployments);
    this.#sets = new ControlledObjects(informers.for<ReplicaSet>(replicaSets));
    this.#pods = new ControlledObjects(informers.for<Pod>(pods));
  }

  /** Deployments may adopt a set without a controller. */
  @Watches(replicaSets)
  *requestsOfSet(set: KubeObject): Iterable<ReconcileRequest> {
    if (controllerOf(set) || set.metadata.deletionTimestamp) return;
    for (const { metadata, spec } of this.#deployments.list(set.metadata.namespace)) {
      const selector = selectorOf(spec?.selector);
      if (!selector.isEmpty() && selector.matches(set.metadata.labels ?? {}))
        yield { namespace: metadata.namespace as string, name: metadata.name as string };
    }
  }

  /** A deployment that is recreated waits until its last pod is gone. */
  @Watches(pods)
  *requestsOfPod(pod: KubeObject): Iterable<ReconcileRequest> {
    const { namespace = '', name = '' } = pod.metadata;
    const isGone = this.#pods.informer.get(namespace, name)?.metadata.uid !== pod.metadata.uid;
    const owner = isGone ? controllerOf(pod) : undefined;
    const set = owner?.kind === replicaSets.kind ? this.#sets.informer.get(namespace, owner.name) : undefined;
    const deployment = set && controllerOf(set);
    if (!deployment || deployment.kind !== deployments.kind) return;
    if (this.#deployments.get(namespace, deployment.name)?.spec?.strategy?.type === 'Recreate') yield { namespace, name: deployment.name };
  }

  async reconcile({ namespace, name }: ReconcileRequest): Promise<ReconcileResult> {
    const deployment = this.#deployments.get(namespace, name);
    if (!deployment) return {};
    const selector = selectorOf(deployment.spec?.selector);
    const { client, recorder, clock } = this;
    if (selector.isEmpty()) {
      const message = 'This deployment is selecting all pods. A non-empty selector is required.';
      recorder.event(deployment, 'Warning', 'SelectingAll', message);
      return {};
    }
    try {
      const claim = { client, ownerResource: deployments, target: replicaSets };
      const candidates = [...this.#sets.of(deployment), ...this.#sets.orphans(deployment)];
      const sets = await claimObjects(claim, deployment, selector, candidates);
      const owned = sets.flatMap((set) => this.#pods.of(set));
      return await new Rollout({ client, recorder, clock }, deployment, sets).step(owned);
    } catch (error) {
      // The informers do not have the newest state yet.
      if (isConflict(error)) return { requeue: true };
      throw error;
    }
  }
}
