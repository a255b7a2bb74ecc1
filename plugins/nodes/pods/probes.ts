import { posix } from 'node:path';
import type { Container, Pod, Probe } from 'kubenest/types/core_v1';
import type { SimulatedFiles } from '../shell/files.ts';
import { applyVolumes, initialFiles } from './container-files.ts';
import { statusOf } from './container-roles.ts';
import { type FileStore, noStore } from './file-store.ts';
import { imageProgramOf } from './image-program.ts';
import { ifSimulated, runMainProcess, runSimulated, startOf } from './main-process.ts';
import { durationSetting, settingOf } from './settings.ts';

/** Simulated course of the probes of a container, in milliseconds after its start; Infinity: never. */
export interface ProbePlan {
  /** Time of the success of the startup probe, before which the others do not count. */
  readonly startedMs: number;
  /** Changes of the readiness, which is false at first. */
  readonly readiness: readonly ReadinessChange[];
  /** Probe for which the kubelet kills the container, the time of that, and the text of the probe's failure. */
  readonly failure?: { readonly probe: 'Startup' | 'Liveness'; readonly atMs: number; readonly message: string };
  /** Text of the failure of a readiness probe that never succeeds. */
  readonly unready?: string;
}

export interface ReadinessChange {
  readonly ms: number;
  readonly isReady: boolean;
  /** Text of the failure of the readiness probe. */
  readonly message?: string;
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
 * Course of the probes. Each succeeds at its first check (`initialDelaySeconds`), unless an annotation delays or ends its success, its
 * command is simulated and fails, nothing in the pod can listen, or the document that it requests was removed. A command sees the files
 * which the simulated command of the container has written by then, and those that `kubectl exec` and other pods have changed.
 *
 * Example: a startup probe each 5 s with `startup-delay: 12s` succeeds at the check at 15 s; with `failureThreshold: 3` it has failed three
 * times at 10 s, where the kubelet kills the container.
 */
export function probePlan(pod: Pod, container: Container, store: FileStore = noStore): ProbePlan {
  const { startupProbe, livenessProbe, readinessProbe } = container;
  const simulated = (probe: Probe): readonly Period[] | undefined => simulatedPeriods(pod, container, probe, store);
  const startup = startupProbe && startupPeriods(pod, container, startupProbe, simulated);
  const success = startupProbe && startup ? streak(startupProbe, startup, true, 1, 0) : 0;
  const failed = startupProbe && startup ? streak(startupProbe, startup, false, startupProbe.failureThreshold ?? 3, 0) : Infinity;
  const startedMs = failed < success ? Infinity : success;
  const liveness = livenessProbe && livenessPeriods(pod, container, livenessProbe, simulated);
  const killed =
    livenessProbe && liveness ? streak(livenessProbe, liveness, false, livenessProbe.failureThreshold ?? 3, startedMs) : Infinity;
  const failure =
    startupProbe && startup && failed < success
      ? { probe: 'Startup' as const, atMs: failed, message: failureText(pod, startupProbe, startup) }
      : livenessProbe && liveness && killed < Infinity
        ? { probe: 'Liveness' as const, atMs: killed, message: failureText(pod, livenessProbe, liveness) }
        : undefined;
  const readiness = readinessProbe && simulated(readinessProbe);
  const changes = readinessChanges(pod, container, readiness, startedMs);
  return {
    startedMs,
    readiness: changes,
    ...(failure && { failure }),
    ...(readinessProbe && changes.length === 0 && startedMs < Infinity && { unready: failureText(pod, readinessProbe, readiness) }),
  };
}

/** True if the container is ready at a time after its start. */
export function isReadyAt({ readiness }: ProbePlan, ms: number): boolean {
  return readiness.findLast((change) => change.ms <= ms)?.isReady ?? false;
}

type SimulatedPeriods = (probe: Probe) => readonly Period[] | undefined;

const always: readonly Period[] = [{ from: 0, to: Infinity, succeeds: true }];

function startupPeriods(pod: Pod, container: Container, probe: Probe, simulated: SimulatedPeriods): readonly Period[] {
  const delay = durationSetting(pod, 'startup-delay', container.name);
  return (delay === undefined ? simulated(probe) : changeAt(delay, true)) ?? always;
}

function livenessPeriods(pod: Pod, container: Container, probe: Probe, simulated: SimulatedPeriods): readonly Period[] {
  const failsFrom = durationSetting(pod, 'liveness-failure', container.name);
  return (failsFrom === undefined ? simulated(probe) : changeAt(failsFrom, false)) ?? always;
}

/** Periods of a probe whose outcome changes once. */
function changeAt(ms: number, succeeds: boolean): Period[] {
  return [
    { from: 0, to: ms, succeeds: !succeeds },
    { from: ms, to: Infinity, succeeds },
  ];
}

/** Periods of a probe by what is simulated: its command, a document, or a port on which nothing listens; undefined for other probes. */
function simulatedPeriods(pod: Pod, container: Container, probe: Probe, store: FileStore): readonly Period[] | undefined {
  const refused = refusedConnection(pod, container, probe, store);
  if (refused !== undefined) return [{ from: 0, to: Infinity, succeeds: false, output: refused }];
  return ifSimulated(() => (probe.exec ? execPeriods(pod, container, probe, store) : documentPeriods(pod, container, probe, store)));
}

/**
 * Returns the error of a connection to the pod in which all containers run simulated commands, none of which listens; undefined if another
 * program may listen, or for another host. Upstream: kubernetes/pkg/probe/{http,tcp,grpc}.
 */
function refusedConnection(
  pod: Pod,
  container: Container,
  { httpGet, tcpSocket, grpc, timeoutSeconds = 1 }: Probe,
  store: FileStore,
): string | undefined {
  const { port, host } = httpGet ?? tcpSocket ?? { ...grpc, host: undefined };
  if (port === undefined || host || !areAllSimulated(pod, store)) return undefined;
  const number = typeof port === 'number' ? port : container.ports?.find(({ name }) => name === port)?.containerPort;
  const address = `${pod.status?.podIP ?? ''}:${number ?? port}`;
  if (grpc) return `timeout: failed to connect service "${address}" within ${timeoutSeconds}s: context deadline exceeded`;
  const refused = `dial tcp ${address}: connect: connection refused`;
  if (!httpGet) return refused;
  const { scheme = 'HTTP', path = '/' } = httpGet;
  return `Get "${scheme.toLowerCase()}://${address}${path.startsWith('/') ? path : `/${path}`}": ${refused}`;
}

/** True if the pod's sidecars and containers all run simulated commands. */
function areAllSimulated(pod: Pod, store: FileStore): boolean {
  const { initContainers = [], containers = [] } = pod.spec ?? {};
  const running = [...initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always'), ...containers];
  return running.every((container) => runMainProcess(pod, container, store, 0) !== undefined);
}

/** Outcome of a check with the files of the container; undefined if it is not simulated. */
type Check = (files: SimulatedFiles, now: number) => Pick<Period, 'succeeds' | 'output'> | undefined;

/** Periods of a probe by its command; undefined if that is not simulated. */
function execPeriods(pod: Pod, container: Container, { exec, timeoutSeconds = 1 }: Probe, store: FileStore): readonly Period[] | undefined {
  const { command } = exec ?? {};
  if (!command) return undefined;
  return periodsOf(pod, container, store, (files, now) => {
    const result = runSimulated(pod, container, () => command, files, now, store);
    return result && { succeeds: result.exitCode === 0 && result.seconds < timeoutSeconds, output: result.stdout + result.stderr };
  });
}

/** Periods of an HTTP probe of a server that serves its files: it fails while the one that it requests is removed. */
function documentPeriods(pod: Pod, container: Container, { httpGet }: Probe, store: FileStore): readonly Period[] | undefined {
  const { documentRoot } = imageProgramOf(container) ?? {};
  if (documentRoot === undefined || !httpGet || httpGet.host) return undefined;
  const [path = '/'] = (httpGet.path ?? '/').split(/[?#]/, 1);
  const document = posix.join(documentRoot, path.endsWith('/') ? `${path}index.html` : path);
  return periodsOf(pod, container, store, (files) => ({
    succeeds: !files.isRemoved(document),
    output: 'HTTP probe failed with statuscode: 404',
  }));
}

/** Checks at each time at which the files of the container change. */
function periodsOf(pod: Pod, container: Container, store: FileStore, check: Check): readonly Period[] | undefined {
  const startedAt = startOf(statusOf(pod, container));
  const since = startedAt === 0 ? undefined : store.sinceStart(pod, container);
  const sinceSeconds = since ? Math.max(0, since.at - startedAt) / 1_000 : Infinity;
  const changeTimes = runMainProcess(pod, container, store)?.result.changeTimes ?? [];
  const times = [...new Set([0, ...changeTimes, ...(since ? [sinceSeconds] : [])])].sort((a, b) => a - b);
  if (times.length > maxPeriods) return undefined;
  const periods: Period[] = [];
  for (const [i, seconds] of times.entries()) {
    const files = filesAt(pod, container, store, seconds);
    if (since && seconds >= sinceSeconds) {
      applyVolumes(pod, container, since.volumes, files);
      files.apply(since.own);
    }
    const outcome = check(files, startedAt + seconds * 1_000);
    if (!outcome) return undefined;
    const last = periods.at(-1);
    const isSame = last?.succeeds === outcome.succeeds;
    if (isSame) periods.pop();
    periods.push({ ...outcome, from: isSame ? last.from : seconds * 1_000, to: (times[i + 1] ?? Infinity) * 1_000 });
  }
  return periods;
}

/**
 * Returns the files of a container at a time after its start. Those that a process which is not simulated may have written are not known.
 */
function filesAt(pod: Pod, container: Container, store: FileStore, seconds: number): SimulatedFiles {
  const main = runMainProcess(pod, container, store, seconds);
  if (main) return main.files;
  const hasKnownProgram = imageProgramOf(container) !== undefined;
  const { mounted } = store.sources(pod, container);
  const files = initialFiles(pod, container, {
    mounted,
    store,
    isKnown: () => hasKnownProgram,
    hasUnknownImage: true,
  });
  applyVolumes(pod, container, store.atStart(pod, container), files);
  return files;
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

/** Changes of the readiness: by annotations, by the periods of the readiness probe, or with the start. */
function readinessChanges(
  pod: Pod,
  { readinessProbe, name }: Container,
  periods: readonly Period[] | undefined,
  startedMs: number,
): readonly ReadinessChange[] {
  if (startedMs === Infinity || settingOf(pod, 'ready', name) === 'false') return [];
  const delay = durationSetting(pod, 'ready-delay', name);
  if (delay === Infinity) return [];
  if (delay !== undefined || !readinessProbe) return [{ ms: Math.max(delay ?? 0, startedMs), isReady: true }];
  const { successThreshold = 1, failureThreshold = 3 } = readinessProbe;
  const changes: ReadinessChange[] = [];
  for (let [ms, isReady] = [startedMs, true]; changes.length <= maxPeriods; isReady = !isReady) {
    ms = streak(readinessProbe, periods ?? always, isReady, isReady ? successThreshold : failureThreshold, ms);
    if (ms === Infinity) break;
    changes.push({ ms, isReady, ...(!isReady && { message: failureText(pod, readinessProbe, periods) }) });
  }
  return changes;
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
