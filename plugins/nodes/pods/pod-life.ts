import type { ObjectPatch } from 'kubenest/sdk';
import type { ContainerStatus, Pod, PodStatus } from 'kubenest/types/core_v1';
import { limitWork, maxWork } from '../shell/work.ts';
import { timeOf, timeText } from '../time.ts';
import { type ContainerChange, fieldPathOf, type KubeletEvent, nextContainerChange, type NodeState } from './container-life.ts';
import { containersOf, type PodContainer } from './container-roles.ts';
import { endedStatus, resourcesOf, waitingStatus } from './container-status.ts';
import { conditionsOf } from './pod-conditions.ts';
import { phaseOf } from './pod-phase.ts';
import { preStopMs, terminationOf } from './process-plan.ts';
import { durationSetting } from './settings.ts';

/** Addresses of a pod. */
export interface PodAddresses {
  readonly hostIP: string;
  readonly podIP: string;
}

/** Refusal of a pod by the kubelet. */
export interface PodRejection {
  readonly reason: string;
  readonly message: string;
}

/** The part of the node that the life cycle of its pods depends on. */
export interface PodHost extends NodeState {
  /** Returns the addresses of a pod, the same ones each time. */
  addressesOf(pod: Pod): PodAddresses;
  /** Takes the pod on the node; returns why the kubelet refuses it, if it does. */
  admit(pod: Pod): PodRejection | undefined;
  /** True if the Killing events of the pod were already sent. */
  isKilling(pod: Pod): boolean;
  /** Returns the number of failed attempts to mount the pod's volumes. */
  mountFailures(pod: Pod): number;
}

/** Outcome of a step. */
export interface LifeOutcome {
  /** New status of the pod; undefined if it does not change. */
  readonly status?: PodStatus;
  readonly events: readonly KubeletEvent[];
  /** Further writes of stages, in order. */
  readonly patches?: readonly { readonly subresource?: string; readonly patch: ObjectPatch }[];
  /** True if the kubelet deletes the pod's object. */
  readonly deletes?: boolean;
}

/** Next step in the life of a pod. */
export interface LifeStep {
  /** Time at which the step is due, in milliseconds since the epoch. */
  readonly at: number;
  run(now: number): LifeOutcome;
}

/**
 * Returns the next step of a pod on a simulated node; undefined if nothing happens until the pod changes. A pure function of the
 * pod's object and the time, except for the admission and the files by the host, so a life cycle continues after a restart of the server.
 * Simulated commands that exceed `maxWork` together are not simulated.
 */
export function nextLifeStep(pod: Pod, host: PodHost, now: number): LifeStep | undefined {
  const step = limitWork(maxWork, () => lifeStep(pod, host, now));
  return step && { at: step.at, run: (time) => limitWork(maxWork, () => step.run(time)) };
}

function lifeStep(pod: Pod, host: PodHost, present: number): LifeStep | undefined {
  const { status = {}, metadata } = pod;
  if (metadata.deletionTimestamp !== undefined) return terminationStep(pod, host);
  if (isTerminal(status)) return undefined;
  if (containerCount(pod) > maxContainers) return { at: 0, run: (now) => rejected(pod, tooManyContainers, now) };
  if (!status.startTime) return hasOtherKubelet(status) ? undefined : { at: 0, run: (now) => run(pod, host, now) };
  const problem = unmountable(pod, host);
  if (problem !== undefined) return waitForVolumes(pod, problem, host);
  const changes = dueChanges(pod, status, host, present);
  const at = Math.min(deadlineOf(pod), ...changes.map((change) => change.at), isSynced(pod, status) ? Infinity : 0);
  return at === Infinity ? undefined : { at, run: (now) => run(pod, host, now) };
}

/** Maximum number of containers of a pod. */
const maxContainers = 500;
const tooManyContainers: PodRejection = {
  reason: 'TooManyContainers',
  message: `a simulated node runs pods of at most ${maxContainers} containers`,
};

function containerCount({ spec = {} }: Pod): number {
  return (spec.containers?.length ?? 0) + (spec.initContainers?.length ?? 0) + (spec.ephemeralContainers?.length ?? 0);
}

/** True for a pod that runs without having been started here: its status is left to the client that wrote it. */
const hasOtherKubelet = ({ phase }: PodStatus): boolean => phase === 'Running';

const isTerminal = ({ phase }: PodStatus): boolean => phase === 'Succeeded' || phase === 'Failed';

function deadlineOf({ spec, status }: Pod): number {
  const seconds = spec?.activeDeadlineSeconds;
  return seconds === undefined || !status?.startTime ? Infinity : timeOf(status.startTime) + seconds * 1_000;
}

/** True if the status describes the current generation and the readiness gates. */
function isSynced(pod: Pod, status: PodStatus): boolean {
  if (pod.metadata.generation !== undefined && status.observedGeneration !== pod.metadata.generation) return false;
  if (!pod.spec?.readinessGates?.length) return true;
  const ready = (conditions: PodStatus['conditions']): string | undefined => conditions?.find(({ type }) => type === 'Ready')?.status;
  return ready(status.conditions) === ready(conditionsOf(pod, status, phaseOf(pod, status), ''));
}

interface DueChange extends ContainerChange {
  readonly of: PodContainer;
}

/**
 * Lists the next changes of the containers that may change now: init containers one after another, then main containers; those that
 * run already keep their own course.
 */
function dueChanges(pod: Pod, status: PodStatus, node: NodeState, now: number): DueChange[] {
  const changes: DueChange[] = [];
  const current = pod.status === status ? pod : { ...pod, status };
  let isOpen = true;
  let since = timeOf(status.startTime);
  for (const one of containersOf(pod, status)) {
    const { state, lastState } = one.status ?? {};
    const hasStarted = Boolean(state?.running ?? state?.terminated ?? lastState?.terminated);
    if (!isOpen && one.role !== 'ephemeral' && !hasStarted) continue;
    const change = nextContainerChange(current, one, one.role === 'ephemeral' ? 0 : since, node, now);
    if (change) changes.push({ ...change, of: one });
    if (one.role === 'init') {
      const isDone = state?.terminated?.exitCode === 0;
      isOpen &&= isDone;
      since = Math.max(since, timeOf(state?.terminated?.finishedAt));
    } else if (one.role === 'sidecar') {
      isOpen &&= Boolean(one.status?.started) || Boolean(state?.terminated ?? lastState?.terminated);
      since = Math.max(since, timeOf(state?.running?.startedAt));
    }
  }
  return changes;
}

/** Applies all that is due; stops after a process started, so that clients see the pod run. */
function run(pod: Pod, host: PodHost, now: number): LifeOutcome {
  const events: KubeletEvent[] = [];
  if (now >= deadlineOf(pod)) return exceedDeadline(pod, now, host);
  const rejection = pod.status?.startTime ? undefined : host.admit(pod);
  if (rejection) return rejected(pod, rejection, now);
  let status = pod.status?.startTime ? { ...pod.status } : admitted(pod, host, now);
  if (unmountable(pod, host) !== undefined) return { status: completed(pod, status, now), events };
  if (!status.podIP) status = withAddress(pod, status, host);
  for (let round = 0, started = false; !started && round < 100; round += 1) {
    const due = dueChanges(pod, status, host, now).filter(({ at }) => at <= now);
    if (due.length === 0) break;
    for (const { of, starts, change } of due) {
      const result = change(now);
      status = withStatus(status, of, result.status);
      events.push(...result.events);
      started ||= starts;
    }
  }
  return { status: completed(pod, withResources(pod, status), now), events };
}

/** Status after the kubelet accepted the pod. */
function admitted(pod: Pod, host: PodHost, now: number): PodStatus {
  const { spec = {}, status = {} } = pod;
  const { hostIP } = host.addressesOf(pod);
  const reason = spec.initContainers?.length ? 'PodInitializing' : 'ContainerCreating';
  return {
    ...status,
    hostIP,
    hostIPs: [{ ip: hostIP }],
    startTime: timeText(now),
    ...(spec.initContainers?.length && { initContainerStatuses: spec.initContainers.map((one) => waitingStatus(one, 'PodInitializing')) }),
    containerStatuses: (spec.containers ?? []).map((one) => waitingStatus(one, reason)),
  };
}

function withAddress(pod: Pod, status: PodStatus, host: PodHost): PodStatus {
  const { podIP } = host.addressesOf(pod);
  return { ...status, podIP, podIPs: [{ ip: podIP }] };
}

/** Returns why the volumes of a pod cannot be mounted, which does not concern one that has run. */
function unmountable(pod: Pod, { files }: NodeState): string | undefined {
  return pod.status?.podIP ? undefined : files.mountProblem(pod);
}

/**
 * First and longest time between two attempts to mount the volumes of a pod. Upstream: kubernetes/pkg/util/goroutinemap/exponentialbackoff.
 */
const firstMountRetryMs = 500;
const longestMountRetryMs = 122_000;

/** Reports at each attempt that the volumes of a pod cannot be mounted. */
function waitForVolumes(pod: Pod, message: string, host: PodHost): LifeStep {
  let at = timeOf(pod.status?.startTime);
  for (let i = 0; i <= host.mountFailures(pod); i += 1) at += Math.min(firstMountRetryMs * 2 ** i, longestMountRetryMs);
  const events: KubeletEvent[] = [{ type: 'Warning', reason: failedMount, message }];
  return { at: Math.min(at, deadlineOf(pod)), run: (now) => (now >= deadlineOf(pod) ? exceedDeadline(pod, now, host) : { events }) };
}

/** Reason of the event about volumes that cannot be mounted. */
export const failedMount = 'FailedMount';

/** Outcome for a pod that the kubelet refuses. Upstream: kubernetes/pkg/kubelet (rejectPod). */
function rejected({ metadata, status = {} }: Pod, { reason, message }: PodRejection, now: number): LifeOutcome {
  const generation = metadata.generation;
  return {
    status: {
      ...status,
      ...(generation !== undefined && { observedGeneration: generation }),
      phase: 'Failed',
      reason,
      message: `Pod was rejected: ${message}`,
      startTime: timeText(now),
    },
    events: [{ type: 'Warning', reason, message }],
  };
}

/** Replaces the status of a container. */
function withStatus(status: PodStatus, { role }: PodContainer, next: ContainerStatus): PodStatus {
  const list = role === 'main' ? 'containerStatuses' : role === 'ephemeral' ? 'ephemeralContainerStatuses' : 'initContainerStatuses';
  const old = status[list] ?? [];
  const isKnown = old.some(({ name }) => name === next.name);
  return { ...status, [list]: isKnown ? old.map((one) => (one.name === next.name ? next : one)) : [...old, next] };
}

/** Reports the resources of running containers, which a resize may have changed. */
function withResources(pod: Pod, status: PodStatus): PodStatus {
  let result = status;
  for (const one of containersOf(pod, status))
    if (one.status?.state?.running && one.role !== 'ephemeral')
      result = withStatus(result, one, { ...one.status, ...resourcesOf(one.container) });
  return result;
}

/** Adds phase, conditions and generation, and ends the sidecars of a pod whose main containers have ended. */
function completed(pod: Pod, status: PodStatus, now: number, isEnding = false): PodStatus {
  const time = timeText(now);
  let result = status;
  const mainEnded = containersOf(pod, status).every(({ role, status: one }) => role !== 'main' || one?.state?.terminated);
  if (mainEnded && phaseOf(pod, withoutSidecars(pod, status)) !== 'Running') {
    for (const one of containersOf(pod, status))
      if (one.role === 'sidecar' && one.status?.state?.running) result = withStatus(result, one, endedStatus(one.status, 0, time));
  }
  const phase = phaseOf(pod, result, isEnding);
  const generation = pod.metadata.generation;
  return {
    ...result,
    ...(generation !== undefined && { observedGeneration: generation }),
    phase,
    conditions: conditionsOf(pod, result, phase, time),
  };
}

function withoutSidecars(pod: Pod, status: PodStatus): PodStatus {
  const sidecars = new Set(
    (pod.spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always').map(({ name }) => name),
  );
  const kept = status.initContainerStatuses?.map((one) => (sidecars.has(one.name) && one.state?.running ? endedStatus(one, 0, '') : one));
  return kept ? { ...status, initContainerStatuses: kept } : status;
}

/** Upstream: kubernetes/pkg/kubelet/active_deadline.go. */
function exceedDeadline(pod: Pod, now: number, node: NodeState): LifeOutcome {
  const message = 'Pod was active on the node longer than the specified deadline';
  const ended = endAll(pod, pod.status ?? {}, now, false, node);
  const phase = 'Failed';
  return {
    status: { ...ended, phase, reason: 'DeadlineExceeded', message, conditions: conditionsOf(pod, ended, phase, timeText(now)) },
    events: [{ type: 'Normal', reason: 'DeadlineExceeded', message }, ...killingEvents(pod)],
  };
}

/** Ends all running processes, by SIGTERM or by SIGKILL. */
function endAll(pod: Pod, status: PodStatus, now: number, isKilled: boolean, { files }: NodeState): PodStatus {
  let result = status;
  for (const one of containersOf(pod, status)) {
    if (!one.status?.state?.running) continue;
    const exitCode = isKilled ? 137 : terminationOf(pod, one.container, files).exitCode;
    result = withStatus(result, one, endedStatus(one.status, exitCode, timeText(now)));
  }
  return result;
}

function killingEvents(pod: Pod): KubeletEvent[] {
  return containersOf(pod, pod.status)
    .filter(({ status }) => status?.state?.running)
    .map((one) => ({
      type: 'Normal',
      reason: 'Killing',
      message: `Stopping container ${one.container.name}`,
      fieldPath: fieldPathOf(one),
    }));
}

/**
 * Graceful deletion: the preStop hooks run, the processes get SIGTERM, end after their `termination-delay` and at the latest with the grace
 * period, which includes the hooks; the final status is written if a client waits for it (a finalizer), and the object is deleted.
 */
function terminationStep(pod: Pod, host: PodHost): LifeStep | undefined {
  const running = containersOf(pod, pod.status).filter(({ status }) => status?.state?.running);
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = pod.metadata;
  const isDone = running.length === 0 && deletionGracePeriodSeconds === 0 && isTerminal(pod.status ?? {});
  if (isDone && finalizers.length > 0) return undefined;
  if (running.length === 0) return { at: 0, run: (now) => deletion(pod, now) };
  const graceMs = deletionGracePeriodSeconds * 1_000;
  const start = timeOf(deletionTimestamp) - graceMs;
  const stops = running.map(({ container }) => {
    const hookMs = Math.min(preStopMs(pod, container, host.files), graceMs);
    const endMs = durationSetting(pod, 'termination-delay', container.name) ?? terminationOf(pod, container, host.files).ms;
    return { delay: hookMs + endMs, isKilled: endMs > 0 && hookMs + endMs >= graceMs };
  });
  const delay = Math.max(...stops.map((stop) => stop.delay));
  const isKilled = stops.some((stop) => stop.isKilled);
  const events = host.isKilling(pod) ? [] : killingEvents(pod);
  const at = start + Math.min(delay, graceMs);
  if (delay > 0 && events.length > 0) return { at: 0, run: () => ({ events }) };
  return {
    at,
    run(now) {
      const ended = completed(pod, endAll(pod, pod.status ?? {}, now, isKilled, host), now, true);
      return { events, ...(finalizers.length > 0 || delay > 0 ? { status: ended } : { deletes: true }) };
    },
  };
}

/** Deletion of a pod without running processes. A pod with finalizers gets its final phase first. */
function deletion(pod: Pod, now: number): LifeOutcome {
  const { status = {}, metadata } = pod;
  if (!metadata.finalizers?.length || isTerminal(status)) return { events: [], deletes: true };
  const phase = 'Failed';
  return { status: { ...status, phase, conditions: conditionsOf(pod, status, phase, timeText(now)) }, events: [] };
}
