import {
  Clock,
  Controller,
  ControllerClient,
  EventRecorder,
  inject,
  type KubeObject,
  type ReconcileRequest,
  type ReconcileResult,
  selectorFromSet,
  SharedInformers,
  Watches,
} from 'kubenest/sdk';
import type { ReplicationController } from 'kubenest/types/core_v1';
import { asManager } from '../common/as-manager.ts';
import { pods } from '../common/pods.ts';
import { ReplicaManager } from '../replicaset/replica-manager.ts';

const replicationControllers = { group: '', version: 'v1', resource: 'replicationcontrollers', kind: 'ReplicationController' } as const;

/** Creates and deletes the pods of ReplicationControllers. Upstream: pkg/controller/replication. */
@Controller({
  name: 'replicationcontroller-controller',
  for: replicationControllers,
  owns: [pods],
  concurrency: 5,
  ...asManager,
  component: 'replication-controller',
  serviceAccount: 'replication-controller',
})
export class ReplicationControllerController {
  readonly #manager: ReplicaManager<ReplicationController>;

  constructor(
    @inject(ControllerClient) client: ControllerClient,
    @inject(SharedInformers) informers: SharedInformers,
    @inject(EventRecorder) recorder: EventRecorder,
    @inject(Clock) clock: Clock,
  ) {
    const kind = {
      resource: replicationControllers,
      hasTerminatingReplicas: false,
      selectorOf: ({ spec }: ReplicationController) => selectorFromSet(spec?.selector),
    };
    this.#manager = new ReplicaManager(kind, client, informers, recorder, clock);
  }

  @Watches(pods)
  requestsOfPod(pod: KubeObject): Iterable<ReconcileRequest> {
    return this.#manager.requestsOfOrphan(pod);
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#manager.run(signal);
  }

  reconcile(request: ReconcileRequest): Promise<ReconcileResult> {
    return this.#manager.reconcile(request);
  }
}
