import type { ContainerStatus, Pod } from 'kubenest/types/core_v1';
import { timeOf, timeText } from '../time.ts';
import { type PodContainer, shouldRestart } from './container-roles.ts';
import { backOffStatus, endedStatus, restartBackOffMs, runningStatus, waitingStatus } from './container-status.ts';
import type { FileStore } from './file-store.ts';
import { processPlan } from './process-plan.ts';
import { isReadyAt, type ProbePlan, probePlan } from './probes.ts';
import { durationSetting, settingOf } from './settings.ts';

/** An event of the kubelet about a container of the pod, or about the pod if `container` is missing. */
export interface KubeletEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  /** Path of the container in the pod, such as `spec.containers{web}`. */
  readonly fieldPath?: string;
}

/** Next change of a container. */
export interface ContainerChange {
  /** Time at which the change is due, in milliseconds since the epoch. */
  readonly at: number;
  /** True if the change starts the process. */
  readonly starts: boolean;
  change(now: number): { readonly status: ContainerStatus; readonly events: readonly KubeletEvent[] };
}

/** State of the node that the life of its pods depends on. */
export interface NodeState {
  /** True if an earlier container pulled the image. */
  hasImage(image: string): boolean;
  /** Files of the pods that do not follow from their objects. */
  readonly files: FileStore;
}

const imagePullRetryMs = 10_000;
/** Reason for which a container waits that lacks a config map or a secret. */
const configError = 'CreateContainerConfigError';
/** Exit code of a container that the kubelet killed. */
const killedExitCode = 137;

/** Path of a container in event references. */
export function fieldPathOf({ container, role }: PodContainer): string {
  const list = role === 'main' ? 'containers' : role === 'ephemeral' ? 'ephemeralContainers' : 'initContainers';
  return `spec.${list}{${container.name}}`;
}

/**
 * Returns the next change of a container that may start; undefined if it stays as it is. `since` is the time from which a pull is
 * measured, `now` the present time.
 */
export function nextContainerChange(pod: Pod, one: PodContainer, since: number, node: NodeState, now: number): ContainerChange | undefined {
  const { state } = one.status ?? {};
  if (state?.running) return runningChange(pod, one, timeOf(state.running.startedAt), node, now);
  if (state?.terminated) return endedChange(pod, one, one.status as ContainerStatus, node);
  if (state?.waiting?.reason === 'CrashLoopBackOff') return restart(pod, one, one.status as ContainerStatus, node);
  return firstStart(pod, one, since, node);
}

function runningChange(pod: Pod, one: PodContainer, startedAt: number, node: NodeState, now: number): ContainerChange | undefined {
  const status = one.status as ContainerStatus;
  const probes = probesOf(pod, one, node);
  const changes = [
    healthChange(probes, one, status, startedAt, now),
    failureChange(probes, pod, one, status, startedAt),
    endChange(pod, one, status, startedAt, node),
  ];
  const due = changes.filter((change) => change !== undefined).sort((a, b) => a.at - b.at);
  return due[0];
}

/** Success of the startup probe, or change of the readiness. */
function healthChange(
  probes: ProbePlan,
  one: PodContainer,
  status: ContainerStatus,
  startedAt: number,
  now: number,
): ContainerChange | undefined {
  const { startedMs, readiness, unready } = probes;
  const elapsed = now - startedAt;
  const isLate = isReadyAt(probes, elapsed) !== (status.ready ?? false);
  const change = isLate ? readiness.findLast(({ ms }) => ms <= elapsed) : readiness.find(({ ms }) => ms > elapsed);
  const changeMs = change?.ms ?? (isLate ? 0 : Infinity);
  const at = startedAt + Math.min(status.started ? Infinity : startedMs, changeMs);
  if (at === Infinity) return undefined;
  return {
    at,
    starts: false,
    change(time) {
      const isStarted = (status.started ?? false) || startedAt + startedMs <= time;
      const isReady = isReadyAt(probes, time - startedAt);
      const { message = unready } = readiness.findLast(({ ms }) => ms <= time - startedAt) ?? {};
      const event: KubeletEvent = {
        type: 'Warning',
        reason: 'Unhealthy',
        message: `Readiness probe failed: ${message}`,
        fieldPath: fieldPathOf(one),
      };
      const isLost = status.ready && !isReady && message !== undefined;
      return { status: { ...status, started: isStarted, ready: isReady }, events: isLost ? [event] : [] };
    },
  };
}

/** Failure of the startup or liveness probe, for which the kubelet kills the container. Upstream: kuberuntime (computePodActions). */
function failureChange(
  { failure }: ProbePlan,
  pod: Pod,
  one: PodContainer,
  status: ContainerStatus,
  startedAt: number,
): ContainerChange | undefined {
  if (!failure) return undefined;
  const { probe, atMs, message } = failure;
  const fieldPath = fieldPathOf(one);
  const restarts = shouldRestart(one, pod, killedExitCode) ? ', will be restarted' : '';
  const killing = `Container ${one.container.name} failed ${probe.toLowerCase()} probe${restarts}`;
  return {
    at: startedAt + atMs,
    starts: false,
    change: (now) => ({
      status: endedStatus(status, killedExitCode, timeText(now)),
      events: [
        { type: 'Warning', reason: 'Unhealthy', message: `${probe} probe failed: ${message}`, fieldPath },
        { type: 'Normal', reason: 'Killing', message: killing, fieldPath },
      ],
    }),
  };
}

/** End of the process by itself. */
function endChange(
  pod: Pod,
  { container, role }: PodContainer,
  status: ContainerStatus,
  startedAt: number,
  { files }: NodeState,
): ContainerChange | undefined {
  const { runMs, exitCode } = processPlan(pod, container, role, files);
  if (runMs === Infinity) return undefined;
  return {
    at: startedAt + runMs,
    starts: false,
    change(now) {
      const ended = endedStatus(status, exitCode, timeText(now));
      // An init container that succeeded counts as ready.
      return { status: role === 'init' && exitCode === 0 ? { ...ended, ready: true } : ended, events: [] };
    },
  };
}

/** Init containers have no probes, and are ready when they have succeeded; ephemeral ones are never ready. */
function probesOf(pod: Pod, { container, role }: PodContainer, { files }: NodeState): ProbePlan {
  return role === 'init' || role === 'ephemeral' ? withoutProbes : probePlan(pod, container, files);
}
const withoutProbes: ProbePlan = { startedMs: 0, readiness: [] };

function endedChange(pod: Pod, one: PodContainer, status: ContainerStatus, node: NodeState): ContainerChange | undefined {
  const { exitCode = 0, finishedAt } = status.state?.terminated ?? {};
  if (!shouldRestart(one, pod, exitCode)) return undefined;
  const backOffMs = restartBackOffMs(status.restartCount ?? 0);
  if (backOffMs === 0) return start(pod, one, timeOf(finishedAt), pullEvents(one, node, 0), node);
  const { name = '', namespace = '', uid = '' } = pod.metadata;
  const message = `Back-off restarting failed container ${one.container.name} in pod ${name}_${namespace}(${uid})`;
  return {
    at: timeOf(finishedAt),
    starts: false,
    change: () => ({
      status: backOffStatus(pod, status, backOffMs),
      events: [{ type: 'Warning', reason: 'BackOff', message, fieldPath: fieldPathOf(one) }],
    }),
  };
}

function restart(pod: Pod, one: PodContainer, status: ContainerStatus, node: NodeState): ContainerChange | undefined {
  const at = timeOf(status.lastState?.terminated?.finishedAt) + restartBackOffMs(status.restartCount ?? 0);
  return start(pod, one, at, pullEvents(one, node, 0), node);
}

function firstStart(pod: Pod, one: PodContainer, since: number, node: NodeState): ContainerChange | undefined {
  const { container } = one;
  const error = settingOf(pod, 'pull-error', container.name);
  if (error !== undefined) return failedPull(one, since, error);
  const pullMs = durationSetting(pod, 'pull-delay', container.name) ?? 0;
  if (pullMs === Infinity) return undefined;
  return start(pod, one, since + pullMs, pullEvents(one, node, pullMs), node);
}

/** Start of a container whose image is pulled. It waits for the config maps and secrets of its environment, whose lack is reported once. */
function start(pod: Pod, one: PodContainer, at: number, pull: readonly KubeletEvent[], node: NodeState): ContainerChange | undefined {
  const { container, status = waitingStatus(container, configError) } = one;
  const message = node.files.environmentProblem(pod, container);
  if (message === undefined) return { at, starts: true, change: (now) => started(pod, one, now, pull, node) };
  const { waiting, terminated } = status.state ?? {};
  if (waiting?.reason === configError && waiting.message === message) return undefined;
  const lastState = terminated ? { terminated } : status.lastState;
  const next = { ...status, state: { waiting: { reason: configError, message } }, ...(lastState && { lastState }) };
  const failure: KubeletEvent = { type: 'Warning', reason: 'Failed', message: `Error: ${message}`, fieldPath: fieldPathOf(one) };
  return {
    at,
    starts: false,
    change: () => ({ status: { ...next, ready: false, started: false }, events: [...pull, failure] }),
  };
}

function started(
  pod: Pod,
  one: PodContainer,
  now: number,
  pull: readonly KubeletEvent[],
  node: NodeState,
): ReturnType<ContainerChange['change']> {
  const fieldPath = fieldPathOf(one);
  const probes = probesOf(pod, one, node);
  const { startedMs, unready } = probes;
  const unhealthy: KubeletEvent = { type: 'Warning', reason: 'Unhealthy', message: `Readiness probe failed: ${unready}`, fieldPath };
  return {
    status: runningStatus(pod, one.container, one.status, timeText(now), { isStarted: startedMs === 0, isReady: isReadyAt(probes, 0) }),
    events: [
      ...pull,
      { type: 'Normal', reason: 'Created', message: 'Container created', fieldPath },
      { type: 'Normal', reason: 'Started', message: 'Container started', fieldPath },
      ...(unready === undefined ? [] : [unhealthy]),
    ],
  };
}

/** Events of a pull. Upstream: kubernetes/pkg/kubelet/images/image_manager.go. */
function pullEvents(one: PodContainer, node: NodeState, pullMs: number): KubeletEvent[] {
  const fieldPath = fieldPathOf(one);
  const { image = '', imagePullPolicy } = one.container;
  const quoted = JSON.stringify(image);
  const pulled = (message: string): KubeletEvent => ({ type: 'Normal', reason: 'Pulled', message, fieldPath });
  if (imagePullPolicy !== 'Always' && (imagePullPolicy === 'Never' || node.hasImage(image)))
    return [pulled(`Container image ${quoted} already present on machine and can be accessed by the pod`)];
  const took = pullMs < 1_000 ? `${pullMs}ms` : `${pullMs / 1_000}s`;
  return [
    { type: 'Normal', reason: 'Pulling', message: `Pulling image ${quoted}`, fieldPath },
    pulled(`Successfully pulled image ${quoted} in ${took} (${took} including waiting). Image size: 0 bytes.`),
  ];
}

/** A failed pull is reported as ErrImagePull first and as ImagePullBackOff from the next attempt on, where it stays. */
function failedPull(one: PodContainer, since: number, error: string): ContainerChange | undefined {
  const reason = one.status?.state?.waiting?.reason;
  if (reason === 'ImagePullBackOff') return undefined;
  const quoted = JSON.stringify(one.container.image ?? '');
  const fieldPath = fieldPathOf(one);
  const warning = (why: string, message: string): KubeletEvent => ({ type: 'Warning', reason: why, message, fieldPath });
  if (reason === 'ErrImagePull') {
    const message = `Back-off pulling image ${quoted}: ErrImagePull: ${error}`;
    const events: KubeletEvent[] = [
      { type: 'Normal', reason: 'BackOff', message: `Back-off pulling image ${quoted}`, fieldPath },
      warning('Failed', 'Error: ImagePullBackOff'),
    ];
    return {
      at: since + imagePullRetryMs,
      starts: false,
      change: () => ({ status: waitingStatus(one.container, 'ImagePullBackOff', message), events }),
    };
  }
  const events: KubeletEvent[] = [
    { type: 'Normal', reason: 'Pulling', message: `Pulling image ${quoted}`, fieldPath },
    warning('Failed', `Failed to pull image ${quoted}: ${error}`),
    warning('Failed', 'Error: ErrImagePull'),
  ];
  return { at: since, starts: false, change: () => ({ status: waitingStatus(one.container, 'ErrImagePull', error), events }) };
}
