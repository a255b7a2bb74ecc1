import {
  aborted,
  Clock,
  Configuration,
  Controller,
  ControllerClient,
  EventRecorder,
  FeatureGates,
  inject,
  Logger,
  SharedInformers,
  StatusError,
} from 'kubenest/sdk';
import type { Pod } from 'kubenest/types/core_v1';
import { ClaimBinder } from './claim-binder.ts';
import { Cluster } from './cluster.ts';
import { MoreTimeNeeded, pausing } from './devices/evaluation-time.ts';
import { ClusterUpdates } from './cluster-updates.ts';
import { compileConfiguration } from './configuration/compile-configuration.ts';
import { SchedulerConfiguration } from './configuration/scheduler-configuration.ts';
import { filters } from './filters.ts';
import { dynamicResources, type PodResourceClaims } from './filters/dynamic-resources.ts';
import { type PodClaims, volumeBinding } from './filters/volume-binding.ts';
import { fitError, noNodesAvailable } from './fit-error.ts';
import { type Filter, SchedulingError } from './framework/framework.ts';
import type { NodeInfo } from './framework/node-info.ts';
import type { PodInfo } from './framework/pod-info.ts';
import { isLost, needsNoNode, PodBinder } from './pod-binder.ts';
import { gangScheduling, groupOf, PodGroups, waitingForGang, waitingForPreemption } from './pod-groups.ts';
import { PodReports } from './pod-reports.ts';
import { type Candidate, findPreemption } from './preemption.ts';
import { defaultSchedulerName, type Profile } from './profile.ts';
import type { BackOff } from './queue/back-off.ts';
import { isGated, type QueuedPod, SchedulingQueue } from './queue/scheduling-queue.ts';
import { schedulerRules } from './rules.ts';
import { SchedulerCaches } from './scheduler-caches.ts';
import { type ActiveFilter, type CycleResult, type Diagnosis, schedulePod } from './scheduling-cycle.ts';
import { VictimRemoval } from './victim-removal.ts';

/** Time after which the loop yields to the event loop. */
const sliceMs = 5;
/** Number of bindings in progress at which the loop waits. */
const maxBindings = 200;

/**
 * Error of upstream's plugin DynamicResources, which ends the search for pods to preempt if an earlier plugin rejected the pod for all
 * nodes before this one stored its state.
 */
const withoutState = 'not found';

const eventsOf = new Map([...filters, gangScheduling].map(({ name, events }) => [name, events]));

/** Outcome for a pod that no node can take; `nominated` as in `#failed`. */
interface Verdict {
  readonly message: string;
  readonly nominated: string | undefined;
  /** Pods that have to go. */
  readonly candidate?: Candidate;
}

/** A node that was chosen for a pod. */
type Choice = Extract<CycleResult, { readonly node: NodeInfo }>;

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
  readonly #caches: SchedulerCaches;
  readonly #cluster: Cluster;
  readonly #binder: PodBinder;
  readonly #claimBinder: ClaimBinder;
  readonly #reports: PodReports;
  readonly #victims: VictimRemoval;
  /** Undefined if pods are scheduled one by one: without the gate GangScheduling. */
  readonly #groups: PodGroups | undefined;
  readonly #profiles: ReadonlyMap<string, Profile>;
  readonly #backOff: BackOff;
  #queue: SchedulingQueue | undefined;
  #bindings = 0;
  /** Pods whose attempts continue in the next turn. */
  readonly #paused: QueuedPod[] = [];
  #isLoopPlanned = false;

  constructor(
    @inject(Configuration) configuration: SchedulerConfiguration,
    @inject(ControllerClient) client: ControllerClient,
    @inject(SharedInformers) informers: SharedInformers,
    @inject(EventRecorder) recorder: EventRecorder,
    @inject(Clock) private readonly clock: Clock,
    @inject(Logger) private readonly logger: Logger,
    @inject(FeatureGates) features: FeatureGates,
  ) {
    const { profiles, backOff } = compileConfiguration(configuration);
    this.#profiles = new Map(profiles.map((profile) => [profile.schedulerName, profile]));
    this.#backOff = backOff;
    this.#caches = new SchedulerCaches(informers, features);
    this.#cluster = new Cluster(this.#caches, () => clock.wallTime());
    this.#binder = new PodBinder(client, this.#caches.claims, (ms, callback) => clock.after(ms, callback));
    this.#claimBinder = new ClaimBinder(client, this.#cluster.resourceClaims, clock);
    this.#reports = new PodReports(client, recorder, clock, logger);
    this.#victims = new VictimRemoval(client, this.#reports, clock, logger);
    if (features.enabled('GangScheduling')) this.#groups = new PodGroups(informers, this.#caches.pods, client, clock, logger);
  }

  async run(signal: AbortSignal): Promise<void> {
    using queue = new SchedulingQueue(
      this.clock,
      () => this.#planLoop(signal),
      (filter) => eventsOf.get(filter) ?? [],
      (pod) => this.#gateOf(pod),
      this.#backOff,
    );
    this.#queue = queue;
    using subscriptions = new DisposableStack();
    await Promise.race([Promise.all([this.#caches.synced, this.#groups?.synced]), aborted(signal)]);
    if (signal.aborted) return;
    const isResponsible = ({ spec }: Pod): boolean => this.#profiles.has(spec?.schedulerName ?? '');
    new ClusterUpdates(this.#caches, this.#cluster, queue, this.#groups, isResponsible).follow(subscriptions);
    await aborted(signal);
  }

  /** Returns the plugin that keeps a pod out of the queue. */
  #gateOf(pod: PodInfo): string | undefined {
    if (isGated(pod)) return 'SchedulingGates';
    if (this.#groups?.isIncomplete(pod)) return gangScheduling.name;
    return this.#profileOf(pod).filters.find((filter) => filter.gate?.(pod, this.#cluster) !== undefined)?.name;
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
      const queued = this.#paused.shift() ?? this.#queue?.pop();
      if (!queued) return;
      try {
        this.#scheduleOne(queued, signal);
      } catch (error) {
        if (!(error instanceof MoreTimeNeeded)) throw error;
        if (!error.until) {
          this.#paused.unshift(queued);
          return this.#planLoop(signal);
        }
        void error.until.then(() => {
          this.#paused.push(queued);
          this.#planLoop(signal);
        });
      }
      if (this.clock.now() >= end) return this.#planLoop(signal);
    }
  }

  #profileOf({ pod }: PodInfo): Profile {
    return this.#profiles.get(pod.spec?.schedulerName ?? '') as Profile;
  }

  #scheduleOne(queued: QueuedPod, signal: AbortSignal): void {
    const { pod } = queued;
    if (this.#cluster.nodes.length === 0) return this.#failed(queued, new Set(), noNodesAvailable, undefined);
    const group = this.#groups && groupOf(pod.pod);
    if (group !== undefined) return this.#scheduleGroup(queued, group, signal);
    const result = pausing(() => this.#chooseNode(queued));
    if (!result) return;
    if ('diagnosis' in result) return this.#unschedulable(queued, result.diagnosis, result.active);
    this.#assume(queued, result);
    this.#startBinding(queued, result, signal);
  }

  /** Chooses nodes for all waiting pods of a group, and binds them if those are enough for a gang. */
  #scheduleGroup(first: QueuedPod, group: string, signal: AbortSignal): void {
    const others = this.#queue?.takeAll(({ pod }) => groupOf(pod) === group) ?? [];
    // Members that were taken with another one precede those that had their turn, as in upstream.
    const members = [first, ...others].sort((a, b) => b.pod.priority - a.pod.priority || a.firstTurn - b.firstTurn || a.order - b.order);
    const placed: { readonly member: QueuedPod; readonly choice: Choice }[] = [];
    const preempting: { readonly member: QueuedPod; readonly rejectedBy: ReadonlySet<string>; readonly verdict: Verdict }[] = [];
    const rejected: { readonly member: QueuedPod; readonly diagnosis: Diagnosis; readonly verdict: Verdict }[] = [];
    for (const member of members) {
      const result = this.#chooseNode(member);
      if (!result) continue;
      if (!('diagnosis' in result)) {
        this.#assume(member, result);
        placed.push({ member, choice: result });
        continue;
      }
      const { diagnosis, active } = result;
      const verdict = this.#verdict(member.pod, diagnosis, active);
      if (!verdict.candidate) {
        rejected.push({ member, diagnosis, verdict });
        continue;
      }
      // The other members see the pod on its node. As in upstream, the victims go even if the gang has not enough nodes then.
      this.#cluster.assume(member.pod, verdict.candidate.node.name);
      void this.#victims.remove(member.pod, verdict.candidate);
      preempting.push({ member, rejectedBy: diagnosis.filters, verdict });
    }
    const hasPlaces = placed.length + preempting.length > 0;
    const isQuorate = hasPlaces && this.#groups?.isQuorate(group, (uid) => this.#cluster.isPlaced(uid)) === true;
    const isScheduled = isQuorate && preempting.length === 0;
    void this.#groups?.report(group, isScheduled);
    for (const { member, rejectedBy, verdict } of preempting) {
      this.#forget(member.pod.uid, []);
      if (isQuorate) this.#retryOn(member, verdict.nominated ?? '', rejectedBy, verdict.message);
      else this.#failed(member, rejectedBy, waitingForGang, '');
    }
    for (const { member, choice } of placed) {
      if (isScheduled) {
        this.#startBinding(member, choice, signal);
        continue;
      }
      this.#forget(member.pod.uid, choice.active);
      if (isQuorate) this.#retryOn(member, choice.node.name, new Set(), waitingForPreemption);
      else this.#failed(member, new Set(), waitingForGang, '');
    }
    for (const { member, diagnosis, verdict } of rejected) this.#reject(member, diagnosis, verdict);
  }

  /** Puts a pod back into the queue, and keeps room for it on the node. */
  #retryOn(queued: QueuedPod, node: string, rejectedBy: ReadonlySet<string>, message: string): void {
    this.#cluster.nominate(queued.pod, node);
    this.#failed(queued, rejectedBy, message, node);
  }

  #assume({ pod }: QueuedPod, { node, active }: Choice): void {
    this.#cluster.assume(pod, node.name);
    for (const { filter, state } of active) filter.reserve?.(state, node.name, this.#cluster);
  }

  /** Reverts an assumption. */
  #forget(uid: string, active: readonly ActiveFilter[]): void {
    this.#cluster.deletePod(uid);
    for (const { filter, state } of active) filter.unreserve?.(state, this.#cluster);
  }

  #startBinding(queued: QueuedPod, { node, active }: Choice, signal: AbortSignal): void {
    this.#bindings += 1;
    void this.#bind(queued, node, active, signal).finally(() => {
      this.#bindings -= 1;
      this.#planLoop(signal);
    });
  }

  /** Returns undefined if the attempt failed. */
  #chooseNode(queued: QueuedPod): CycleResult | undefined {
    const { pod } = queued;
    const { filters: checks, scores } = this.#profileOf(pod);
    try {
      return schedulePod(pod, this.#cluster, checks, scores, this.#cluster, Math.random);
    } catch (error) {
      if (!(error instanceof SchedulingError)) throw error;
      this.#queue?.markFailed(queued);
      this.#reports.failed(pod, 'SchedulerError', error.message, undefined);
      return undefined;
    }
  }

  async #bind(queued: QueuedPod, node: NodeInfo, active: readonly ActiveFilter[], signal: AbortSignal): Promise<void> {
    const { pod, namespace } = queued.pod;
    const claims = stateOf(active, dynamicResources);
    const volumes = stateOf<PodClaims>(active, volumeBinding);
    let reported = queued.pod;
    try {
      // The preparation of claims and volumes takes time, so others learn the node. Upstream: NominatedNodeNameForExpectation.
      if (claims?.claims.length || claims?.extended?.claims.has(node.name) || volumes?.waiting.length)
        reported = await this.#reports.nominated(queued.pod, node.name);
      const wait = (): void => {
        const message = `waiting for binding conditions for device on node ${node.name}`;
        this.#reports.event(pod, 'Normal', 'BindingConditionsPending', message, 'Scheduling');
      };
      if (claims) await this.#claimBinder.bind(pod, claims, node.name, wait).catch(inPreBind);
      await this.#binder.bind(queued.pod, node, volumes, signal);
      this.#claimBinder.bound(pod);
      const message = `Successfully assigned ${namespace}/${pod.metadata.name} to ${node.name}`;
      this.#reports.event(pod, 'Normal', 'Scheduled', message, 'Binding');
    } catch (error) {
      if (!signal.aborted) await this.#bindingFailed(queued, reported, active, claims, error as Error);
    }
  }

  /** `reported`: the pod with its nomination. */
  async #bindingFailed(
    queued: QueuedPod,
    reported: PodInfo,
    active: readonly ActiveFilter[],
    claims: PodResourceClaims | undefined,
    error: Error,
  ): Promise<void> {
    const { pod, uid, namespace } = queued.pod;
    const current = this.#caches.pods.get(namespace, pod.metadata.name ?? '');
    if (current?.metadata.uid === uid && current.spec?.nodeName) return;
    this.#forget(uid, active);
    if (claims) await this.#releaseClaims(pod, claims);
    this.#queue?.happened('PodDeleted');
    if (isLost(error) && (!current || needsNoNode(current))) return;
    this.#queue?.markFailed(queued);
    this.#reports.failed(reported, 'SchedulerError', error.message, '');
  }

  async #releaseClaims(pod: Pod, claims: PodResourceClaims): Promise<void> {
    try {
      await this.#claimBinder.release(pod, claims);
    } catch (error) {
      const key = `${pod.metadata.namespace}/${pod.metadata.name}`;
      this.logger.warn({ pod: key, reason: (error as Error).message }, 'cannot end the reservations of resource claims');
    }
  }

  #unschedulable(queued: QueuedPod, diagnosis: Diagnosis, active: readonly ActiveFilter[]): void {
    this.#reject(queued, diagnosis, this.#verdict(queued.pod, diagnosis, active));
  }

  /** Searches for changes that let a node take a pod that fits nowhere. */
  #verdict(pod: PodInfo, diagnosis: Diagnosis, active: readonly ActiveFilter[]): Verdict {
    const { preempts, filters: checks } = this.#profileOf(pod);
    const count = this.#cluster.nodes.length;
    const claimsChecked = checks.includes(dynamicResources as Filter);
    if (claimsChecked && diagnosis.podReasons && !diagnosis.filters.has(dynamicResources.name))
      return { message: fitError(count, diagnosis, withoutState), nominated: undefined };
    const reasons = claimsChecked ? [this.#freeDevices(pod, stateOf(active, dynamicResources))] : [];
    if (!preempts) return { message: fitError(count, diagnosis, reasons.join(', ')), nominated: undefined };
    const found = findPreemption(pod, this.#cluster, active, diagnosis, this.#caches.budgets.list(), this.#cluster);
    if ('message' in found) return { message: fitError(count, diagnosis, [...reasons, found.message].join(', ')), nominated: '' };
    return { message: fitError(count, diagnosis), nominated: found.candidate.node.name, candidate: found.candidate };
  }

  /** Puts a pod back into the queue, and removes the pods that have to make room for it. */
  #reject(queued: QueuedPod, { filters: rejectedBy }: Diagnosis, { message, nominated, candidate }: Verdict): void {
    if (!candidate) return this.#failed(queued, rejectedBy, message, nominated);
    this.#retryOn(queued, candidate.node.name, rejectedBy, message);
    void this.#victims.remove(queued.pod, candidate);
  }

  /** Gives up an allocation that no node can use and that only the pod needs. Returns what upstream's plugin reports about it. */
  #freeDevices({ uid, pod }: PodInfo, claims: PodResourceClaims | undefined): string {
    if (!claims) return 'no new claims to deallocate';
    const idle = [...claims.unavailable].find(({ status }) => (status?.reservedFor ?? []).every((consumer) => consumer.uid === uid));
    const stale = claims.extended?.stale;
    const warn = (error: Error): void => {
      const key = `${pod.metadata.namespace}/${pod.metadata.name}`;
      this.logger.warn({ pod: key, reason: error.message }, 'cannot free the devices of a resource claim');
    };
    if (idle) {
      this.#claimBinder.deallocate(idle).catch(warn);
      return 'deallocation of ResourceClaim completed';
    }
    if (!stale) return 'still not schedulable';
    this.#claimBinder.deleteExtended(stale).catch(warn);
    return 'deletion of ResourceClaim completed';
  }

  /** `nominated`: the node to nominate, empty to withdraw a nomination, undefined to keep it. */
  #failed(queued: QueuedPod, rejectedBy: ReadonlySet<string>, message: string, nominated: string | undefined): void {
    this.#queue?.markUnschedulable(queued, rejectedBy);
    if (nominated === '') this.#cluster.withdraw(queued.pod.uid);
    this.#reports.failed(queued.pod, 'Unschedulable', message, nominated);
  }
}

/** Returns the state of a filter for the pod; undefined if it has nothing to check. */
function stateOf<S>(active: readonly ActiveFilter[], { name }: Filter<S>): S | undefined {
  return active.find(({ filter }) => filter.name === name)?.state as S | undefined;
}

/** Names the plugin that failed. Upstream: framework/runtime (RunPreBindPlugins). */
function inPreBind(error: unknown): never {
  if (!(error instanceof Error) || error instanceof StatusError) throw error;
  throw new Error(`running PreBind plugin "${dynamicResources.name}": ${error.message}`, { cause: error });
}
