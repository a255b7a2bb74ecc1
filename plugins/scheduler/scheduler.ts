import {
  aborted,
  Clock,
  Configuration,
  Controller,
  ControllerClient,
  EventRecorder,
  formatTime,
  inject,
  isNotFound,
  Logger,
  type SharedInformer,
  SharedInformers,
} from 'kubenest/sdk';
import type { Node, PersistentVolumeClaim, Pod, PodCondition } from 'kubenest/types/core_v1';
import type { PodDisruptionBudget } from 'kubenest/types/policy_v1';
import { Cluster } from './cluster.ts';
import { isFinished, isRelevantPodChange, nodeChanges } from './cluster-events.ts';
import type { PodClaims } from './filters/volume-binding.ts';
import { compileConfiguration } from './configuration/compile-configuration.ts';
import { SchedulerConfiguration } from './configuration/scheduler-configuration.ts';
import { filters } from './filters.ts';
import { fitError, noNodesAvailable } from './fit-error.ts';
import type { ClusterEvent } from './framework/framework.ts';
import type { NodeInfo } from './framework/node-info.ts';
import { podInfo, type PodInfo } from './framework/pod-info.ts';
import { isLost, needsNoNode, PodBinder } from './pod-binder.ts';
import { type Candidate, findPreemption } from './preemption.ts';
import { defaultSchedulerName, type Profile } from './profile.ts';
import type { BackOff } from './queue/back-off.ts';
import { type QueuedPod, SchedulingQueue } from './queue/scheduling-queue.ts';
import { schedulerRules } from './rules.ts';
import { type ActiveFilter, type Diagnosis, schedulePod } from './scheduling-cycle.ts';

const pods = { group: '', version: 'v1', resource: 'pods' } as const;
/** Time after which the loop yields to the event loop. */
const sliceMs = 5;
/** Number of bindings in progress at which the loop waits. */
const maxBindings = 200;

/** Message of the plugin DynamicResources, which upstream asks before it considers preemption, about pods without resource claims. */
const withoutClaims = 'no new claims to deallocate';

const eventsOf = new Map(filters.map(({ name, events }) => [name, events]));

/**
 * Assigns pods to nodes. It takes the pods of the queue one after another: filters and scores choose the node, where the pod counts at
 * once, and the binding is written in the background. Upstream: pkg/scheduler/schedule_one.go.
 */
@Controller({
  name: defaultSchedulerName,
  lease: 'kube-scheduler',
  userAgent: 'kube-scheduler',
  events: 'events.k8s.io',
  rules: schedulerRules,
  configuration: SchedulerConfiguration,
})
export class Scheduler {
  readonly #pods: SharedInformer<Pod>;
  readonly #nodes: SharedInformer<Node>;
  readonly #claims: SharedInformer<PersistentVolumeClaim>;
  readonly #budgets: SharedInformer<PodDisruptionBudget>;
  /** Informers of volumes, whose changes may make pods schedulable. */
  readonly #storage: readonly SharedInformer[];
  readonly #informers: readonly SharedInformer[];
  readonly #cluster: Cluster;
  readonly #binder: PodBinder;
  readonly #profiles: ReadonlyMap<string, Profile>;
  readonly #backOff: BackOff;
  #queue: SchedulingQueue | undefined;
  #bindings = 0;
  #isLoopPlanned = false;

  constructor(
    @inject(Configuration) configuration: SchedulerConfiguration,
    @inject(ControllerClient) private readonly client: ControllerClient,
    @inject(SharedInformers) informers: SharedInformers,
    @inject(EventRecorder) private readonly recorder: EventRecorder,
    @inject(Clock) private readonly clock: Clock,
    @inject(Logger) private readonly logger: Logger,
  ) {
    const { profiles, backOff } = compileConfiguration(configuration);
    this.#profiles = new Map(profiles.map((profile) => [profile.schedulerName, profile]));
    this.#backOff = backOff;
    const core = { group: '' };
    this.#pods = informers.for<Pod>(pods);
    this.#nodes = informers.for<Node>({ ...core, resource: 'nodes' });
    this.#claims = informers.for<PersistentVolumeClaim>({ ...core, resource: 'persistentvolumeclaims' });
    this.#budgets = informers.for<PodDisruptionBudget>({ group: 'policy', resource: 'poddisruptionbudgets' });
    const listers = {
      namespaces: informers.for({ ...core, resource: 'namespaces' }),
      claims: this.#claims,
      volumes: informers.for({ ...core, resource: 'persistentvolumes' }),
      storageClasses: informers.for({ group: 'storage.k8s.io', resource: 'storageclasses' }),
      services: informers.for({ ...core, resource: 'services' }),
      replicationControllers: informers.for({ ...core, resource: 'replicationcontrollers' }),
      replicaSets: informers.for({ group: 'apps', resource: 'replicasets' }),
      statefulSets: informers.for({ group: 'apps', resource: 'statefulsets' }),
    };
    this.#storage = [listers.claims, listers.volumes, listers.storageClasses] as SharedInformer[];
    this.#informers = [this.#pods, this.#nodes, this.#budgets, ...Object.values(listers)] as SharedInformer[];
    this.#cluster = new Cluster(listers as ConstructorParameters<typeof Cluster>[0]);
    this.#binder = new PodBinder(client, this.#claims, (ms, callback) => clock.after(ms, callback));
  }

  async run(signal: AbortSignal): Promise<void> {
    using queue = new SchedulingQueue(
      this.clock,
      () => this.#planLoop(signal),
      (filter) => eventsOf.get(filter) ?? [],
      this.#backOff,
    );
    this.#queue = queue;
    using subscriptions = new DisposableStack();
    await Promise.race([Promise.all(this.#informers.map(({ synced }) => synced)), aborted(signal)]);
    if (signal.aborted) return;
    this.#follow(queue, subscriptions);
    await aborted(signal);
  }

  /** Keeps the cluster and the queue up to date. Nodes come first, so that no pod fails because they are not known yet. */
  #follow(queue: SchedulingQueue, subscriptions: DisposableStack): void {
    subscriptions.use(
      this.#nodes.handle({
        added: (node) => {
          this.#cluster.setNode(node);
          queue.happened('NodeAdded');
        },
        updated: (node, old) => {
          const events = nodeChanges(node, old);
          if (events.length > 0) this.#cluster.setNode(node);
          for (const event of events) queue.happened(event);
        },
        deleted: ({ metadata }) => this.#cluster.deleteNode(metadata.name ?? ''),
      }),
    );
    subscriptions.use(
      this.#pods.handle({
        added: (pod) => this.#podChanged(queue, pod, undefined),
        updated: (pod, old) => this.#podChanged(queue, pod, old),
        deleted: (pod) => this.#podDeleted(queue, pod),
      }),
    );
    const changed = (): void => queue.happened('StorageChanged');
    for (const informer of this.#storage) subscriptions.use(informer.handle({ added: changed, updated: changed }));
  }

  #podChanged(queue: SchedulingQueue, pod: Pod, old: Pod | undefined): void {
    if (pod.spec?.nodeName) return this.#assignedPodChanged(queue, pod, old);
    if (!this.#profiles.has(pod.spec?.schedulerName ?? '')) return;
    if (needsNoNode(pod)) return this.#podDeleted(queue, pod);
    const info = podInfo(pod);
    const nominated = pod.status?.nominatedNodeName;
    if (nominated) this.#cluster.nominate(info, nominated);
    else this.#cluster.withdraw(info.uid);
    queue.add(info);
  }

  #assignedPodChanged(queue: SchedulingQueue, pod: Pod, old: Pod | undefined): void {
    if (old && !isRelevantPodChange(pod, old)) return;
    const uid = pod.metadata.uid ?? '';
    queue.delete(uid);
    this.#cluster.setPod(pod);
    let event: ClusterEvent = 'PodChanged';
    if (isFinished(pod)) event = 'PodDeleted';
    else if (!old?.spec?.nodeName) event = 'PodAdded';
    this.#cluster.withdraw(uid);
    queue.happened(event);
  }

  #podDeleted(queue: SchedulingQueue, pod: Pod): void {
    const uid = pod.metadata.uid ?? '';
    queue.delete(uid);
    this.#cluster.withdraw(uid);
    this.#cluster.deletePod(uid);
    queue.happened('PodDeleted');
  }

  #planLoop(signal: AbortSignal): void {
    if (this.#isLoopPlanned) return;
    this.#isLoopPlanned = true;
    setImmediate(() => {
      this.#isLoopPlanned = false;
      if (!signal.aborted) this.#loop(signal);
    });
  }

  /** Schedules pods until none is active; yields after a slice of time, and while many bindings are in progress. */
  #loop(signal: AbortSignal): void {
    const end = this.clock.now() + sliceMs;
    while (this.#bindings < maxBindings) {
      const queued = this.#queue?.pop();
      if (!queued) return;
      this.#scheduleOne(queued, signal);
      if (this.clock.now() >= end) return this.#planLoop(signal);
    }
  }

  #profileOf({ pod }: PodInfo): Profile {
    return this.#profiles.get(pod.spec?.schedulerName ?? '') as Profile;
  }

  #scheduleOne(queued: QueuedPod, signal: AbortSignal): void {
    const { pod } = queued;
    const { filters: checks, scores } = this.#profileOf(pod);
    if (this.#cluster.nodes.length === 0) return this.#failed(queued, new Set(), noNodesAvailable, undefined);
    const result = schedulePod(pod, this.#cluster, checks, scores, this.#cluster, Math.random);
    if ('diagnosis' in result) return this.#unschedulable(queued, result.diagnosis, result.active);
    this.#cluster.assume(pod, result.node.name);
    this.#bindings += 1;
    void this.#bind(queued, result.node, result.active, signal).finally(() => {
      this.#bindings -= 1;
      this.#planLoop(signal);
    });
  }

  async #bind(queued: QueuedPod, node: NodeInfo, active: readonly ActiveFilter[], signal: AbortSignal): Promise<void> {
    const { pod, uid, namespace } = queued.pod;
    const claims = active.find(({ filter }) => filter.name === 'VolumeBinding')?.state as PodClaims | undefined;
    try {
      await this.#binder.bind(queued.pod, node, claims, signal);
      const message = `Successfully assigned ${namespace}/${pod.metadata.name} to ${node.name}`;
      this.recorder.event(pod, 'Normal', 'Scheduled', message, { action: 'Binding', ...reporter(pod) });
    } catch (error) {
      if (signal.aborted) return;
      const current = this.#pods.get(namespace, pod.metadata.name ?? '');
      if (current?.metadata.uid === uid && current.spec?.nodeName) return;
      this.#cluster.deletePod(uid);
      this.#queue?.happened('PodDeleted');
      if (isLost(error) && (!current || needsNoNode(current))) return;
      this.#queue?.markFailed(queued);
      this.#report(queued.pod, 'SchedulerError', (error as Error).message, undefined);
    }
  }

  #unschedulable(queued: QueuedPod, diagnosis: Diagnosis, active: readonly ActiveFilter[]): void {
    const { pod } = queued;
    if (!this.#profileOf(pod).preempts)
      return this.#failed(queued, diagnosis.filters, fitError(this.#cluster.nodes.length, diagnosis), undefined);
    const found = findPreemption(pod, this.#cluster, active, diagnosis, this.#budgets.list(), this.#cluster);
    const count = this.#cluster.nodes.length;
    if ('message' in found) {
      const message = fitError(count, diagnosis, `${withoutClaims}, ${found.message}`);
      return this.#failed(queued, diagnosis.filters, message, '');
    }
    const { node } = found.candidate;
    this.#cluster.nominate(pod, node.name);
    this.#failed(queued, diagnosis.filters, fitError(count, diagnosis), node.name);
    void this.#preempt(pod, found.candidate);
  }

  /** `nominated`: the node to nominate, empty to withdraw a nomination, undefined to keep it. */
  #failed(queued: QueuedPod, rejectedBy: ReadonlySet<string>, message: string, nominated: string | undefined): void {
    this.#queue?.markUnschedulable(queued, rejectedBy);
    if (nominated === '') this.#cluster.withdraw(queued.pod.uid);
    this.#report(queued.pod, 'Unschedulable', message, nominated);
  }

  /** Writes the condition PodScheduled and the event FailedScheduling. */
  #report({ pod, namespace }: PodInfo, reason: string, message: string, nominated: string | undefined): void {
    this.recorder.event(pod, 'Warning', 'FailedScheduling', message, { action: 'Scheduling', ...reporter(pod) });
    const old = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
    const isNominationChange = nominated !== undefined && nominated !== (pod.status?.nominatedNodeName ?? '');
    const isSame = old?.status === 'False' && old.reason === reason && old.message === message;
    if (isSame && !isNominationChange) return;
    const { generation } = pod.metadata;
    const condition: PodCondition = {
      type: 'PodScheduled',
      status: 'False',
      reason,
      message,
      ...(generation !== undefined && { observedGeneration: generation }),
      lastTransitionTime: (old?.status === 'False' && old.lastTransitionTime) || formatTime(this.clock.wallTime()),
    };
    const nomination = isNominationChange ? { nominatedNodeName: nominated === '' ? null : nominated } : {};
    this.#patchStatus(pod, namespace, { conditions: [condition], ...nomination });
  }

  #patchStatus({ metadata }: Pod, namespace: string, status: object): void {
    const { name = '', uid } = metadata;
    this.client
      .patch({ ...pods, subresource: 'status' }, namespace, name, { type: 'strategic', patch: { metadata: { uid }, status } })
      .catch((error: unknown) => {
        if (!isNotFound(error))
          this.logger.warn({ pod: `${namespace}/${name}`, reason: (error as Error).message }, 'cannot write the status of a pod');
      });
  }

  /** Deletes the victims of a preemption. Upstream: framework/preemption/executor.go. */
  async #preempt({ uid, pod }: PodInfo, { node, victims }: Candidate): Promise<void> {
    for (const { pod: victim, namespace } of victims) {
      if (victim.metadata.deletionTimestamp !== undefined) continue;
      const name = victim.metadata.name ?? '';
      const condition: PodCondition = {
        type: 'DisruptionTarget',
        status: 'True',
        reason: 'PreemptionByScheduler',
        message: `${pod.spec?.schedulerName}: preempting to accommodate a higher priority pod`,
        lastTransitionTime: formatTime(this.clock.wallTime()),
      };
      const patch = { metadata: { uid: victim.metadata.uid }, status: { conditions: [condition] } };
      try {
        await this.client.patch({ ...pods, subresource: 'status' }, namespace, name, { type: 'strategic', patch });
        await this.client.remove(pods, namespace, name, { preconditions: { uid: victim.metadata.uid } });
        this.recorder.event(victim, 'Normal', 'Preempted', `Preempted by pod ${uid} on node ${node.name}`, {
          action: 'Preempting',
          ...reporter(pod),
        });
      } catch (error) {
        if (!isNotFound(error)) this.logger.warn({ pod: `${namespace}/${name}`, reason: (error as Error).message }, 'cannot preempt a pod');
      }
    }
  }
}

/** Returns the component that reports events about the scheduling of a pod: the profile that it names. */
const reporter = ({ spec }: Pod): { readonly component: string } => ({ component: spec?.schedulerName ?? defaultSchedulerName });
