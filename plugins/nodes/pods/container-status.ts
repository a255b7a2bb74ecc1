import type { Container, ContainerState, ContainerStatus, Pod } from 'kubenest/types/core_v1';
import { containerId, fullImageName, imageId } from './image-name.ts';

/** Status of a container that has not started. */
export function waitingStatus({ name, image }: Container, reason: string, message?: string): ContainerStatus {
  return {
    ...(name !== undefined && { name }),
    state: { waiting: { reason, ...(message !== undefined && { message }) } },
    lastState: {},
    ready: false,
    restartCount: 0,
    image: image ?? '',
    imageID: '',
    started: false,
  };
}

/** Status of a container whose process has just started. `old` is its previous status, if the container restarts. */
export function runningStatus(
  pod: Pod,
  container: Container,
  old: ContainerStatus | undefined,
  now: string,
  { isStarted, isReady }: { readonly isStarted: boolean; readonly isReady: boolean },
): ContainerStatus {
  const { name = '', image = '' } = container;
  const last = old?.state?.terminated ?? old?.lastState?.terminated;
  const restartCount = last ? (old?.restartCount ?? 0) + 1 : 0;
  return {
    name,
    state: { running: { startedAt: now } },
    lastState: last ? { terminated: last } : {},
    ready: isReady,
    restartCount,
    image: fullImageName(image),
    imageID: imageId(image),
    containerID: containerId(pod.metadata.uid ?? '', name, restartCount),
    started: isStarted,
    ...resourcesOf(container),
    ...mountsOf(container),
  };
}

/** Resources as the kubelet reports them: those of the specification. */
export function resourcesOf({ resources }: Container): Pick<ContainerStatus, 'allocatedResources' | 'resources'> {
  return { ...(resources?.requests && { allocatedResources: resources.requests }), resources: resources ?? {} };
}

function mountsOf({ volumeMounts }: Container): Pick<ContainerStatus, 'volumeMounts'> {
  if (!volumeMounts?.length) return {};
  return {
    volumeMounts: volumeMounts.map(({ name = '', mountPath = '', readOnly }) => ({
      name,
      mountPath,
      ...(readOnly && { readOnly, recursiveReadOnly: 'Disabled' }),
    })),
  };
}

/** Status of a container whose process has ended. */
export function endedStatus(old: ContainerStatus, exitCode: number, now: string): ContainerStatus {
  const startedAt = old.state?.running?.startedAt ?? now;
  const terminated = {
    exitCode,
    reason: exitCode === 0 ? 'Completed' : 'Error',
    startedAt,
    finishedAt: now,
    ...(old.containerID !== undefined && { containerID: old.containerID }),
  };
  return { ...old, state: { terminated }, ready: false, started: false };
}

/** Status of a container that waits to restart after repeated failures. */
export function backOffStatus(pod: Pod, old: ContainerStatus, backOffMs: number): ContainerStatus {
  const { name = '', namespace = '', uid = '' } = pod.metadata;
  const message = `back-off ${backOffText(backOffMs)} restarting failed container=${old.name} pod=${name}_${namespace}(${uid})`;
  const state: ContainerState = { waiting: { reason: 'CrashLoopBackOff', message } };
  return { ...old, state, lastState: { ...(old.state?.terminated && { terminated: old.state.terminated }) }, ready: false, started: false };
}

/** Text of whole seconds as Go prints a duration: `10s`, `1m20s`, `5m0s`. */
function backOffText(ms: number): string {
  const seconds = ms / 1_000;
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}

/**
 * Time between the end of a container's run and its restart: none the first time, then 10 s, 20 s, 40 s, up to 5 minutes. Upstream:
 * kubernetes/pkg/kubelet (MaxContainerBackOff).
 */
export function restartBackOffMs(restartCount: number): number {
  return restartCount === 0 ? 0 : Math.min(10_000 * 2 ** (restartCount - 1), 300_000);
}
