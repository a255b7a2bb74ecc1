import type { Container, Pod, Probe } from 'kubenest/types/core_v1';
import { SimulatedFiles } from '../shell/files.ts';
import { statusOf } from './container-roles.ts';
import { runMainProcess, runSimulated, startOf } from './main-process.ts';
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

/** A time in which all checks of a probe have the same outcome, in milliseconds after the start of the container. */
interface Period {
  readonly from: number;
  readonly to: number;
  readonly succeeds: boolean;
  /** Output of the probe's command, or the error of its connection. */
  readonly output?: string;
}

const maxPeriods = 32;

/**
 * Course of the probes. Each succeeds at its first check (`initialDelaySeconds`), unless an annotation delays or ends its success, its command
 * is simulated and fails, or nothing in the pod can listen. A command sees the files which the simulated command of the container has written by
 * then.
 *
 * Example: a startup probe each 5 s with `startup-delay: 12s` succeeds at the check at 15 s; with `failureThreshold: 3` it has failed three
 * times at 10 s, where the kubelet kills the container.
 */
export function probePlan(pod: Pod, container: Container): ProbePlan {
  const { startupProbe, livenessProbe, readinessProbe, name } = container;
  const startup = startupProbe && startupPeriods(pod, container, startupProbe);
  const success = startupProbe && startup ? streak(startupProbe, startup, true, 1, 0) : 0;
  const failed = startupProbe && startup ? streak(startupProbe, startup, false, startupProbe.failureThreshold ?? 3, 0) : Infinity;
  const startedMs = failed < success ? Infinity : success;
  const liveness = livenessProbe && livenessPeriods(pod, container, livenessProbe);
  const killed =
    livenessProbe && liveness ? streak(livenessProbe, liveness, false, livenessProbe.failureThreshold ?? 3, startedMs) : Infinity;
  const failure =
    startupProbe && startup && failed < success
      ? { probe: 'Startup' as const, atMs: failed, message: failureText(pod, startupProbe, startup) }
      : livenessProbe && liveness && killed < Infinity
        ? { probe: 'Liveness' as const, atMs: killed, message: failureText(pod, livenessProbe, liveness) }
        : undefined;
  const readiness = readinessProbe && simulatedPeriods(pod, container, readinessProbe);
  const isUnready = settingOf(pod, 'ready', name) === 'false';
  const readyMs = isUnready ? Infinity : readyAt(pod, container, readiness, startedMs);
  return {
    startedMs,
    readyMs,
    ...(failure && { failure }),
    ...(readinessProbe && readyMs === Infinity && startedMs < Infinity && { unready: failureText(pod, readinessProbe, readiness) }),
  };
}

const always: readonly Period[] = [{ from: 0, to: Infinity, succeeds: true }];

function startupPeriods(pod: Pod, container: Container, probe: Probe): readonly Period[] {
  const delay = durationSetting(pod, 'startup-delay', container.name);
  return (delay === undefined ? simulatedPeriods(pod, container, probe) : changeAt(delay, true)) ?? always;
}

function livenessPeriods(pod: Pod, container: Container, probe: Probe): readonly Period[] {
  const failsFrom = durationSetting(pod, 'liveness-failure', container.name);
  return (failsFrom === undefined ? simulatedPeriods(pod, container, probe) : changeAt(failsFrom, false)) ?? always;
}

/** Periods of a probe whose outcome changes once. */
function changeAt(ms: number, succeeds: boolean): Period[] {
  return [
    { from: 0, to: ms, succeeds: !succeeds },
    { from: ms, to: Infinity, succeeds },
  ];
}

/** Periods of a probe by what is simulated: its command, or a port on which nothing listens; undefined for other probes. */
function simulatedPeriods(pod: Pod, container: Container, probe: Probe): readonly Period[] | undefined {
  const refused = refusedConnection(pod, container, probe);
  return refused === undefined ? execPeriods(pod, container, probe) : [{ from: 0, to: Infinity, succeeds: false, output: refused }];
}

/**
 * Returns the error of a connection to the pod in which all containers run simulated commands, none of which listens; undefined if another
 * program may listen, or for another host. Upstream: kubernetes/pkg/probe/{http,tcp,grpc}.
 */
function refusedConnection(pod: Pod, container: Container, { httpGet, tcpSocket, grpc, timeoutSeconds = 1 }: Probe): string | undefined {
  const { port, host } = httpGet ?? tcpSocket ?? { ...grpc, host: undefined };
  if (port === undefined || host || !areAllSimulated(pod)) return undefined;
  const number = typeof port === 'number' ? port : container.ports?.find(({ name }) => name === port)?.containerPort;
  const address = `${pod.status?.podIP ?? ''}:${number ?? port}`;
  if (grpc) return `timeout: failed to connect service "${address}" within ${timeoutSeconds}s: context deadline exceeded`;
  const refused = `dial tcp ${address}: connect: connection refused`;
  if (!httpGet) return refused;
  const { scheme = 'HTTP', path = '/' } = httpGet;
  return `Get "${scheme.toLowerCase()}://${address}${path.startsWith('/') ? path : `/${path}`}": ${refused}`;
}

/** True if the pod's sidecars and containers all run simulated commands. */
function areAllSimulated(pod: Pod): boolean {
  const { initContainers = [], containers = [] } = pod.spec ?? {};
  const running = [...initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always'), ...containers];
  return running.every((container) => runMainProcess(pod, container, 0) !== undefined);
}

/** Periods of a probe by its command; undefined if that is not simulated. */
function execPeriods(pod: Pod, container: Container, { exec, timeoutSeconds = 1 }: Probe): readonly Period[] | undefined {
  const { command } = exec ?? {};
  if (!command) return undefined;
  const startedAt = startOf(statusOf(pod, container));
  const main = runMainProcess(pod, container);
  const times = [...new Set([0, ...(main?.result.changeTimes ?? [])])];
  if (times.length > maxPeriods) return undefined;
  const periods: Period[] = [];
  for (const [i, seconds] of times.entries()) {
    // Without a simulated command of the container, its files are not known.
    const files = runMainProcess(pod, container, seconds)?.files ?? new SimulatedFiles({ unknown: ['/'] });
    const result = runSimulated(pod, container, () => command, files, startedAt + seconds * 1_000);
    if (!result) return undefined;
    const succeeds = result.exitCode === 0 && result.seconds < timeoutSeconds;
    const last = periods.at(-1);
    if (last?.succeeds === succeeds) periods.pop();
    const [from, to] = [last?.succeeds === succeeds ? last.from : seconds * 1_000, (times[i + 1] ?? Infinity) * 1_000];
    periods.push({ from, to, succeeds, output: result.stdout + result.stderr });
  }
  return periods;
}

/** Returns the time of the first check that is not before `ms`. */
function checkFrom({ initialDelaySeconds = 0, periodSeconds = 10 }: Probe, ms: number): number {
  const [delay, period] = [initialDelaySeconds * 1_000, periodSeconds * 1_000];
  return ms <= delay ? delay : delay + Math.ceil((ms - delay) / period) * period;
}

/** Returns the time of the check that is the last of `count` in a row with the outcome, of the checks from `since` on. */
function streak(probe: Probe, periods: readonly Period[], succeeds: boolean, count: number, since: number): number {
  if (since === Infinity) return Infinity;
  for (const period of periods) {
    if (period.succeeds !== succeeds || period.to <= since) continue;
    const last = checkFrom(probe, Math.max(period.from, since)) + (count - 1) * (probe.periodSeconds ?? 10) * 1_000;
    if (last < period.to) return last;
  }
  return Infinity;
}

function readyAt(pod: Pod, { readinessProbe, name }: Container, periods: readonly Period[] | undefined, startedMs: number): number {
  const delay = durationSetting(pod, 'ready-delay', name);
  if (delay !== undefined) return Math.max(delay, startedMs);
  if (!readinessProbe || startedMs === Infinity) return startedMs;
  return streak(readinessProbe, periods ?? always, true, readinessProbe.successThreshold ?? 1, startedMs);
}

/** Text of a failed probe. Upstream: kubernetes/pkg/probe. */
function failureText({ status }: Pod, { httpGet, tcpSocket, grpc }: Probe, periods: readonly Period[] = []): string {
  const output = periods.find(({ succeeds }) => !succeeds)?.output;
  if (output !== undefined) return output;
  if (httpGet) return 'HTTP probe failed with statuscode: 500';
  if (tcpSocket) return `dial tcp ${tcpSocket.host ?? status?.podIP ?? ''}:${tcpSocket.port}: connect: connection refused`;
  if (grpc) return 'service unhealthy (responded with "NOT_SERVING")';
  return '';
}
