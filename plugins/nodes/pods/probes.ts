import type { Container, Pod, Probe } from 'kubenest/types/core_v1';
import { durationSetting, settingOf } from './settings.ts';

/** Simulated course of the probes of a container, in milliseconds after its start; Infinity: never. */
export interface ProbePlan {
  /** Time of the success of the startup probe, before which the others do not count. */
  readonly startedMs: number;
  readonly readyMs: number;
  /** Probe for which the kubelet kills the container, the time of that, and the text of the probe's failure. */
  readonly failure?: { readonly probe: 'Startup' | 'Liveness'; readonly atMs: number; readonly message: string };
  /** Text of the failure of a readiness probe that never succeeds. */
  readonly unready?: string;
}

/**
 * Course of the probes: each succeeds at its first check (`initialDelaySeconds`) unless an annotation delays or ends its success.
 *
 * Example: a startup probe each 5 s with `startup-delay: 12s` succeeds at the check at 15 s; with `failureThreshold: 3` it has failed three
 * times at 10 s, where the kubelet kills the container.
 */
export function probePlan(pod: Pod, container: Container): ProbePlan {
  const { startupProbe, livenessProbe, readinessProbe, name } = container;
  const startup = startupOf(pod, container);
  const startedMs = startup ?? Infinity;
  const liveness = livenessProbe && livenessFailure(pod, container, livenessProbe, startedMs);
  const failed = startup === undefined ? startupProbe && { probe: 'Startup' as const, atMs: lastFailure(startupProbe, 0) } : liveness;
  const failedProbe = startup === undefined ? startupProbe : livenessProbe;
  const isUnready = settingOf(pod, 'ready', name) === 'false';
  return {
    startedMs,
    readyMs: isUnready ? Infinity : readyAt(pod, container, startedMs),
    ...(failed && failed.atMs < Infinity && { failure: { ...failed, message: failureText(pod, failedProbe ?? {}) } }),
    ...(isUnready && readinessProbe && { unready: failureText(pod, readinessProbe) }),
  };
}

/** Returns the time of the first check that is not before `ms`. */
function checkFrom({ initialDelaySeconds = 0, periodSeconds = 10 }: Probe, ms: number): number {
  const [delay, period] = [initialDelaySeconds * 1_000, periodSeconds * 1_000];
  return ms <= delay ? delay : delay + Math.ceil((ms - delay) / period) * period;
}

/** Returns the time of the last failure in a row that the kubelet accepts, if checks fail from `ms` on. */
function lastFailure(probe: Probe, ms: number): number {
  const { failureThreshold = 3, periodSeconds = 10 } = probe;
  return checkFrom(probe, ms) + (failureThreshold - 1) * periodSeconds * 1_000;
}

/** Returns the time of the startup probe's success; undefined if it fails too often before. */
function startupOf(pod: Pod, { startupProbe, name }: Container): number | undefined {
  if (!startupProbe) return 0;
  const success = checkFrom(startupProbe, durationSetting(pod, 'startup-delay', name) ?? 0);
  return success > lastFailure(startupProbe, 0) ? undefined : success;
}

function livenessFailure(pod: Pod, { name }: Container, probe: Probe, startedMs: number): { probe: 'Liveness'; atMs: number } | undefined {
  const failsFrom = durationSetting(pod, 'liveness-failure', name);
  return failsFrom === undefined ? undefined : { probe: 'Liveness', atMs: lastFailure(probe, Math.max(failsFrom, startedMs)) };
}

function readyAt(pod: Pod, { readinessProbe, name }: Container, startedMs: number): number {
  const delay = durationSetting(pod, 'ready-delay', name);
  if (delay !== undefined) return Math.max(delay, startedMs);
  if (!readinessProbe || startedMs === Infinity) return startedMs;
  const { successThreshold = 1, periodSeconds = 10 } = readinessProbe;
  return checkFrom(readinessProbe, startedMs) + (successThreshold - 1) * periodSeconds * 1_000;
}

/** Text of a failed probe. Upstream: kubernetes/pkg/probe. */
function failureText({ status }: Pod, { httpGet, tcpSocket, grpc }: Probe): string {
  if (httpGet) return 'HTTP probe failed with statuscode: 500';
  if (tcpSocket) return `dial tcp ${tcpSocket.host ?? status?.podIP ?? ''}:${tcpSocket.port}: connect: connection refused`;
  return grpc ? 'service unhealthy (responded with "NOT_SERVING")' : '';
}
