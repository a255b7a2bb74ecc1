import {
  Clock,
  Controller,
  ControllerClient,
  deepEqual,
  EventRecorder,
  formatTime,
  inject,
  isNotFound,
  type ReconcileRequest,
  type ReconcileResult,
  type SharedInformer,
  SharedInformers,
  Watches,
} from 'kubenest/sdk';
import type { Node, Pod } from 'kubenest/types/core_v1';
import { asManager } from '../common/as-manager.ts';
import { patchPodStatus } from '../common/patch-pod-status.ts';
import { podKind } from '../common/pods.ts';
import { indexPodsByNode, podsByNode } from '../common/pods-by-node.ts';
import { evictionDelayMs, noExecuteTaints } from './eviction-time.ts';

const nodes = { group: '', resource: 'nodes' };

interface Eviction {
  readonly uid: string | undefined;
  /** Time at which the pod was first found on a tainted node. */
  readonly startMs: number;
  readonly dueMs: number;
}

/** Deletes pods that do not tolerate the taints of their node with the effect NoExecute. Upstream: pkg/controller/tainteviction. */
@Controller({
  name: 'taint-eviction-controller',
  serviceAccount: 'node-controller',
  for: podKind,
  filter: isRelevant,
  concurrency: 8,
  ...asManager,
})
export class TaintEvictionController {
  readonly #pods: SharedInformer<Pod>;
  readonly #nodes: SharedInformer<Node>;
  readonly #evictions = new Map<string, Eviction>();

  constructor(
    @inject(ControllerClient) private readonly client: ControllerClient,
    @inject(EventRecorder) private readonly recorder: EventRecorder,
    @inject(SharedInformers) informers: SharedInformers,
    @inject(Clock) private readonly clock: Clock,
  ) {
    this.#pods = informers.for(podKind);
    this.#nodes = informers.for<Node>(nodes);
    indexPodsByNode(this.#pods);
  }

  /** The pods of a node whose taints change. */
  @Watches(nodes)
  *requestsOfNode(object: Node, old: Node | undefined): Iterable<ReconcileRequest> {
    const [taints, before] = [object, old].map((node) => noExecuteTaints(node?.spec?.taints));
    if (deepEqual(taints, before)) return;
    for (const { metadata } of this.#pods.byIndex(podsByNode, object.metadata.name ?? ''))
      yield { namespace: metadata.namespace ?? '', name: metadata.name ?? '' };
  }

  async reconcile({ namespace, name }: ReconcileRequest): Promise<ReconcileResult> {
    const key = `${namespace}/${name}`;
    const pod = this.#pods.get(namespace, name);
    const present = this.#evictions.get(key);
    if (present && present.uid !== pod?.metadata.uid) this.#cancel(key, undefined);
    if (!pod) return {};
    const node = this.#nodes.get('', pod.spec?.nodeName ?? '');
    const delayMs = evictionDelayMs(pod, noExecuteTaints(node?.spec?.taints));
    if (delayMs === undefined) {
      this.#cancel(key, pod);
      return {};
    }
    const startMs = this.#evictions.get(key)?.startMs ?? this.clock.now();
    const dueMs = startMs + delayMs;
    const waitMs = dueMs - this.clock.now();
    if (waitMs > 0) {
      this.#evictions.set(key, { uid: pod.metadata.uid, startMs, dueMs });
      return { requeueAfterMs: waitMs };
    }
    await this.#evict(pod);
    this.#evictions.delete(key);
    return {};
  }

  /** Forgets a planned eviction, with an event if the pod remains. */
  #cancel(key: string, pod: Pod | undefined): void {
    if (!this.#evictions.delete(key) || !pod) return;
    this.recorder.event(pod, 'Normal', 'TaintManagerEviction', `Cancelling deletion of Pod ${key}`);
  }

  async #evict(pod: Pod): Promise<void> {
    if (pod.metadata.deletionTimestamp) return;
    const { namespace = '', name = '', uid } = pod.metadata;
    this.recorder.event(pod, 'Normal', 'TaintManagerEviction', `Marking for deletion Pod ${namespace}/${name}`);
    const condition = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'DeletionByTaintManager',
      message: 'Taint manager: deleting due to NoExecute taint',
      lastTransitionTime: formatTime(this.clock.wallTime()),
    };
    if (!(await patchPodStatus(this.client, pod, condition))) return;
    try {
      await this.client.remove(podKind, namespace, name, { preconditions: { uid } });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}

/** True for changes of the node and the tolerations, and for created and deleted pods. */
function isRelevant({ spec }: Pod, old: Pod | undefined): boolean {
  return !old || spec?.nodeName !== old.spec?.nodeName || !deepEqual(spec?.tolerations, old.spec?.tolerations);
}
