import {
  Clock,
  Controller,
  ControllerClient,
  formatTime,
  inject,
  isNotFound,
  Logger,
  type SharedInformer,
  SharedInformers,
} from 'kubenest/sdk';
import type { Node, Pod, PodCondition } from 'kubenest/types/core_v1';
import { asManager } from '../common/as-manager.ts';
import { patchPodStatus } from '../common/patch-pod-status.ts';
import { isPodTerminal, pods } from '../common/pods.ts';
import { repeat } from '../common/repeat.ts';
import { orphanedPods, outOfServicePods, surplusPods, unscheduledTerminatingPods } from './collectable-pods.ts';

const nodes = { group: '', version: 'v1', resource: 'nodes' } as const;
const periodMs = 20_000;
/** Time for which a node has to be missing before its pods are deleted. */
const quarantineMs = 40_000;
/** Upstream: --terminated-pod-gc-threshold. */
const terminatedPodThreshold = 12_500;

/** Deletes pods that no other controller deletes. Upstream: pkg/controller/podgc. */
@Controller({ name: 'pod-garbage-collector-controller', serviceAccount: 'pod-garbage-collector', ...asManager })
export class PodGarbageCollectorController {
  readonly #pods: SharedInformer<Pod>;
  readonly #nodes: SharedInformer<Node>;
  /** Time at which a node was first missed, by name. */
  readonly #missing = new Map<string, number>();

  constructor(
    @inject(ControllerClient) private readonly client: ControllerClient,
    @inject(SharedInformers) informers: SharedInformers,
    @inject(Clock) private readonly clock: Clock,
    @inject(Logger) private readonly logger: Logger,
  ) {
    this.#pods = informers.for<Pod>(pods);
    this.#nodes = informers.for<Node>(nodes);
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#pods.synced, this.#nodes.synced]);
    await repeat(this.clock, periodMs, signal, () => this.collect());
  }

  /** Deletes the pods that are due. */
  async collect(): Promise<void> {
    const all = this.#pods.list();
    const nodeOf = (pod: Pod): Node | undefined => this.#nodes.get('', pod.spec?.nodeName ?? '');
    await this.#deleteAll(surplusPods(all, terminatedPodThreshold));
    await this.#deleteAll(outOfServicePods(all, nodeOf));
    const deletedNodes = await this.#deletedNodes(orphanedPods(all, nodeOf));
    const orphans = orphanedPods(all, nodeOf).filter(({ spec }) => deletedNodes.has(spec?.nodeName ?? ''));
    await this.#deleteAll(orphans, {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'DeletionByPodGC',
      message: 'PodGC: node no longer exists',
      lastTransitionTime: formatTime(this.clock.wallTime()),
    });
    await this.#deleteAll(unscheduledTerminatingPods(all));
  }

  /** Returns the nodes of the pods that have been missing for the quarantine and that the server does not have either. */
  async #deletedNodes(orphans: readonly Pod[]): Promise<Set<string>> {
    const missing = new Set(orphans.map(({ spec }) => spec?.nodeName ?? ''));
    for (const name of [...this.#missing.keys()]) if (!missing.has(name)) this.#missing.delete(name);
    const deleted = new Set<string>();
    const now = this.clock.now();
    for (const name of missing) {
      const since = this.#missing.get(name);
      if (since === undefined) this.#missing.set(name, now);
      else if (now - since >= quarantineMs && !(await this.client.get(nodes, '', name))) deleted.add(name);
    }
    return deleted;
  }

  async #deleteAll(due: readonly Pod[], condition?: PodCondition): Promise<void> {
    for (const pod of due) {
      try {
        await this.#delete(pod, condition);
      } catch (error) {
        if (isNotFound(error)) continue;
        const { namespace, name } = pod.metadata;
        this.logger.error({ pod: `${namespace}/${name}`, reason: (error as Error).message }, 'cannot delete a pod');
      }
    }
  }

  /** No kubelet will report the end of the pod, therefore it fails before it is deleted. */
  async #delete(pod: Pod, condition: PodCondition | undefined): Promise<void> {
    const { namespace = '', name = '', uid } = pod.metadata;
    if (!isPodTerminal(pod) && !(await patchPodStatus(this.client, pod, condition, 'Failed'))) return;
    await this.client.remove(pods, namespace, name, { gracePeriodSeconds: 0, preconditions: { uid } });
  }
}
