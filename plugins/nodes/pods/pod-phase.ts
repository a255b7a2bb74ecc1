import type { Pod, PodStatus } from 'kubenest/types/core_v1';
import { containersOf, lastExitCode, shouldRestart } from './container-roles.ts';

export type Phase = 'Pending' | 'Running' | 'Succeeded' | 'Failed';

/** True if a main container has run. Upstream: kubelet/container (HasAnyRegularContainerStarted). */
export function hasInitialized({ spec = {} }: Pod, status: PodStatus): boolean {
  return (spec.containers ?? []).some(({ name }) => {
    const { state, lastState } = status.containerStatuses?.find((one) => one.name === name) ?? {};
    return Boolean(state?.running ?? state?.terminated ?? lastState?.terminated);
  });
}

/**
 * Phase of a pod from the states of its containers; `isEnding` if none of them will restart.
 *
 * | init containers | main containers | phase |
 * |---|---|---|
 * | one failed permanently | any | Failed |
 * | one has not ended | any | Pending |
 * | done | one has not started | Pending |
 * | done | one runs or will restart | Running |
 * | done | all ended with 0 | Succeeded |
 * | done | all ended, one with another code | Failed |
 *
 * Upstream: kubernetes/pkg/kubelet/kubelet_pods.go (getPhase).
 */
export function phaseOf(pod: Pod, status: PodStatus, isEnding = false): Phase {
  let pendingInit = 0;
  const main = { running: 0, waiting: 0, stopped: 0, final: 0, succeeded: 0 };
  for (const one of containersOf(pod, status)) {
    const { state } = one.status ?? {};
    const code = lastExitCode(one.status);
    if (one.role === 'init') {
      if (code === undefined) pendingInit += 1;
      else if (code !== 0 && (isEnding || !shouldRestart(one, pod, code))) return 'Failed';
      else if (code !== 0) pendingInit += 1;
    } else if (one.role === 'sidecar') {
      if (state?.running) main.running += 1;
      else if (code === undefined && !hasInitialized(pod, status)) pendingInit += 1;
    } else if (one.role === 'main') {
      if (state?.running) main.running += 1;
      else if (code === undefined) main.waiting += 1;
      else {
        main.stopped += 1;
        if (isEnding || !shouldRestart(one, pod, code)) main.final += 1;
        if (code === 0) main.succeeded += 1;
      }
    }
  }
  if (pendingInit > 0 || main.waiting > 0) return 'Pending';
  if (main.running > 0 || main.stopped !== main.final) return 'Running';
  return main.stopped === main.succeeded ? 'Succeeded' : 'Failed';
}
