import {
  Clock,
  Controller,
  ControllerClient,
  EventRecorder,
  formatTime,
  inject,
  Logger,
  type ReconcileRequest,
  type SharedInformer,
  SharedInformers,
  Watches,
} from 'kubenest/sdk';
import type { Lease } from 'kubenest/types/coordination_v1';
import type { Node, Pod } from 'kubenest/types/core_v1';
import { asManager } from '../common/as-manager.ts';
import { patchPodStatus } from '../common/patch-pod-status.ts';
import { podReadyCondition, pods } from '../common/pods.ts';
import { indexPodsByNode, podsByNode } from '../common/pods-by-node.ts';
import { repeat } from '../common/repeat.ts';
import { NodeHealth, readyCondition, silentConditions } from './node-health.ts';
import { missingLabels } from './node-labels.ts';
import { hasNoExecuteTaint, noExecuteKey, notReadyKey, unreachableKey, withNoExecuteTaint, withNoScheduleTaints } from './node-taints.ts';
import { Zones } from './zones.ts';

const nodes = { group: '', version: 'v1', resource: 'nodes', kind: 'Node', isClusterScoped: true } as const;
const leases = { group: 'coordination.k8s.io', resource: 'leases' };
/** Upstream: --node-monitor-period. */
const periodMs = 5_000;

/**
 * Marks silent nodes as unknown and their pods as not ready, and taints nodes by their conditions. A request with a namespace is a pod.
 * Upstream: pkg/controller/nodelifecycle.
 */
@Controller({
  name: 'node-lifecycle-controller',
  serviceAccount: 'node-controller',
  component: 'node-controller',
  for: nodes,
  concurrency: 8,
  ...asManager,
})
export class NodeLifecycleController {
  readonly #nodes: SharedInformer<Node>;
  readonly #pods: SharedInformer<Pod>;
  readonly #leases: SharedInformer<Lease>;
  readonly #health = new NodeHealth();
  readonly #zones = new Zones();
  readonly #known = new Map<string, Node>();

  constructor(
    @inject(ControllerClient) private readonly client: ControllerClient,
    @inject(EventRecorder) private readonly recorder: EventRecorder,
    @inject(SharedInformers) informers: SharedInformers,
    @inject(Clock) private readonly clock: Clock,
    @inject(Logger) private readonly logger: Logger,
  ) {
    this.#nodes = informers.for<Node>(nodes);
    this.#pods = informers.for<Pod>(pods);
    this.#leases = informers.for<Lease>(leases);
    indexPodsByNode(this.#pods);
  }

  /** Pods that get a node, which may be silent already. */
  @Watches(pods)
  *requestsOfPod({ metadata, spec }: Pod, old: Pod | undefined): Iterable<ReconcileRequest> {
    const isNew = spec?.nodeName && spec.nodeName !== old?.spec?.nodeName;
    if (isNew) yield { namespace: metadata.namespace ?? '', name: metadata.name ?? '' };
  }

  async reconcile({ namespace, name }: ReconcileRequest): Promise<void> {
    if (namespace) return this.#reconcilePod(namespace, name);
    const node = this.#nodes.get('', name);
    const labels = node && missingLabels(node);
    if (labels) await this.client.patch(nodes, '', name, { type: 'merge', patch: { metadata: { labels } } });
    if (node) await this.#changeTaints(node, (present) => withNoScheduleTaints(present, this.#now()));
  }

  async #reconcilePod(namespace: string, name: string): Promise<void> {
    const pod = this.#pods.get(namespace, name);
    const node = pod && this.#nodes.get('', pod.spec?.nodeName ?? '');
    const ready = node && readyCondition(node);
    if (pod && ready && ready.status !== 'True') await this.#markNotReady(pod);
  }

  async run(signal: AbortSignal): Promise<void> {
    await this.#leases.synced;
    await repeat(this.clock, periodMs, signal, () => this.monitor());
  }

  /** Checks all nodes once. */
  async monitor(): Promise<void> {
    const present = this.#nodes.list();
    await this.#registerNodes(present);
    const checked = await Promise.all(present.map((node) => this.#guarded(node, () => this.#check(node))));
    await this.#observeZones(checked);
    for (const node of checked) await this.#guarded(node, () => this.#taint(node));
  }

  async #registerNodes(present: readonly Node[]): Promise<void> {
    for (const node of present) {
      const name = node.metadata.name ?? '';
      if (this.#known.has(name)) continue;
      this.#known.set(name, node);
      this.recorder.event(node, 'Normal', 'RegisteredNode', `Node ${name} event: Registered Node ${name} in Controller`);
    }
    for (const [name, node] of this.#known) {
      if (this.#nodes.get('', name)) continue;
      this.#known.delete(name);
      this.#health.forget(name);
      this.recorder.event(node, 'Normal', 'RemovingNode', `Node ${name} event: Removing Node ${name} from Controller`);
    }
  }

  /** Returns the node, with unknown conditions if it is silent. */
  async #check(node: Node): Promise<Node> {
    const name = node.metadata.name ?? '';
    const isSilent = this.#health.observe(node, this.#leases.get('kube-node-lease', name), this.clock.wallTime());
    const conditions = isSilent ? silentConditions(node, this.#now()) : undefined;
    const before = readyCondition(node)?.status;
    const isChanged = conditions && before !== 'Unknown';
    const checked = isChanged
      ? await this.client.replace<Node>({ ...nodes, subresource: 'status' }, { ...node, status: { ...node.status, conditions } })
      : node;
    const ready = readyCondition(checked);
    if (!ready || ready.status === 'True') return checked;
    if (isChanged && before === 'True') this.recorder.event(checked, 'Normal', 'NodeNotReady', `Node ${name} status is now: NodeNotReady`);
    for (const pod of this.#pods.byIndex(podsByNode, name)) await this.#markNotReady(pod);
    return checked;
  }

  async #markNotReady(pod: Pod): Promise<void> {
    const condition = podReadyCondition(pod);
    if (!condition || condition.status === 'False') return;
    const notReady = { ...condition, status: 'False', lastTransitionTime: this.#now() };
    if (await patchPodStatus(this.client, pod, notReady)) this.recorder.event(pod, 'Warning', 'NodeNotReady', 'Node is not ready');
  }

  async #observeZones(checked: readonly Node[]): Promise<void> {
    const wasFullyDisrupted = this.#zones.isFullyDisrupted;
    this.#zones.observe(checked);
    if (wasFullyDisrupted && !this.#zones.isFullyDisrupted) this.#health.reset(this.clock.wallTime());
    if (wasFullyDisrupted || !this.#zones.isFullyDisrupted) return;
    for (const node of checked) await this.#guarded(node, () => this.#setNoExecute(node, undefined));
  }

  /** Sets the taint NoExecute for the condition Ready. A first taint has to be admitted by the zone. */
  async #taint(node: Node): Promise<Node> {
    const ready = readyCondition(node);
    if (!ready) return node;
    const key = noExecuteKey(ready.status);
    const isTainted = hasNoExecuteTaint(node, notReadyKey) || hasNoExecuteTaint(node, unreachableKey);
    if (key !== undefined && !isTainted && !this.#zones.take(node, this.clock.now())) return node;
    return this.#setNoExecute(node, key);
  }

  #setNoExecute(node: Node, key: string | undefined): Promise<Node> {
    return this.#changeTaints(node, (present) => withNoExecuteTaint(present, key, this.#now()));
  }

  /** Changes the newest state of the node, unless the known one needs no change. */
  async #changeTaints(node: Node, change: (present: Node) => Node | undefined): Promise<Node> {
    if (!change(node)) return node;
    return (await this.client.update<Node>(nodes, '', node.metadata.name ?? '', change)) ?? node;
  }

  /** A failure at one node does not affect the others; the next round retries it. */
  async #guarded(node: Node, action: () => Promise<Node>): Promise<Node> {
    try {
      return await action();
    } catch (error) {
      this.logger.warn({ node: node.metadata.name, reason: (error as Error).message }, 'cannot update a node');
      return node;
    }
  }

  #now(): string {
    return formatTime(this.clock.wallTime());
  }
}
