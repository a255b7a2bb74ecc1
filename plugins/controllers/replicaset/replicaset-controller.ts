import {
  Clock,
  Controller,
  ControllerClient,
  EventRecorder,
  inject,
  type KubeObject,
  type ReconcileRequest,
  type ReconcileResult,
  SharedInformers,
  Watches,
} from 'kubenest/sdk';
import type { ReplicaSet } from 'kubenest/types/apps_v1';
import { asManager } from '../common/as-manager.ts';
import { pods } from '../common/pods.ts';
import { selectorOf } from '../../common/selectors.ts';
import { ReplicaManager } from './replica-manager.ts';

const replicaSets = { group: 'apps', version: 'v1', resource: 'replicasets', kind: 'ReplicaSet' } as const;

/** Creates and deletes the pods of ReplicaSets. Upstream: pkg/controller/replicaset. */
@Controller({
  name: 'replicaset-controller',
  for: replicaSets,
  owns: [pods],
  concurrency: 5,
  ...asManager,
})
export class ReplicaSetController {
  readonly #manager: ReplicaManager<ReplicaSet>;

  constructor(
    @inject(ControllerClient) client: ControllerClient,
    @inject(SharedInformers) informers: SharedInformers,
    @inject(EventRecorder) recorder: EventRecorder,
    @inject(Clock) clock: Clock,
  ) {
    const kind = {
      resource: replicaSets,
      hasTerminatingReplicas: true,
      selectorOf: ({ spec }: ReplicaSet) => selectorOf(spec?.selector),
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
