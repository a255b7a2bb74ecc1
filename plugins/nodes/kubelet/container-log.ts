import { Buffer } from 'node:buffer';
import type { Container, ContainerStatus, Pod } from 'kubenest/types/core_v1';
import { containersOf, type PodContainer } from '../pods/container-roles.ts';
import type { FileStore } from '../pods/file-store.ts';
import { processPlan } from '../pods/process-plan.ts';
import { settingOf } from '../pods/settings.ts';
import { limitWork, maxWork } from '../shell/work.ts';
import { timeOf } from '../time.ts';

/** Options of a log, as the API server sends them to a kubelet. */
export interface LogQuery {
  readonly follow: boolean;
  readonly previous: boolean;
  readonly timestamps: boolean;
  readonly tailLines: number | undefined;
  readonly limitBytes: number | undefined;
  /** Earliest time in milliseconds since the epoch. */
  readonly since: number | undefined;
}

/** Reads the options of a log; undefined if a number or a time is invalid. Upstream: kubernetes/pkg/kubelet/server/server.go. */
export function logQuery(query: URLSearchParams, now: number): LogQuery | undefined {
  const flag = (name: string): boolean => ['true', '1'].includes(query.get(name) ?? '');
  const number = (name: string): number | undefined => (query.has(name) ? Number(query.get(name)) : undefined);
  const numbers = [number('tailLines'), number('limitBytes'), number('sinceSeconds')];
  const sinceTime = query.get('sinceTime');
  const isValid = numbers.every((one) => one === undefined || (Number.isInteger(one) && one >= 0));
  if (!isValid || (sinceTime !== null && Number.isNaN(Date.parse(sinceTime)))) return undefined;
  const [tailLines, limitBytes, sinceSeconds] = numbers;
  const since = sinceTime !== null ? Date.parse(sinceTime) : sinceSeconds === undefined ? undefined : now - sinceSeconds * 1_000;
  return { follow: flag('follow'), previous: flag('previous'), timestamps: flag('timestamps'), tailLines, limitBytes, since };
}

/** A run of a container whose log is requested. */
export interface LogSource {
  readonly pod: Pod;
  readonly container: PodContainer;
  readonly startedAt: number;
  readonly isRunning: boolean;
}

/** Finds the run of a container, or explains in the kubelet's words why it has no log. Upstream: kubelet_pods.go (validateContainerLogStatus). */
export function logSource(pod: Pod, name: string, previous: boolean): LogSource | { readonly problem: string } {
  const container = containersOf(pod, pod.status).find(({ container: { name: own } }) => own === name);
  const quoted = `container ${JSON.stringify(name)} in pod ${JSON.stringify(pod.metadata.name)}`;
  if (!container) return { problem: `${quoted} is not available` };
  const { state, lastState } = container.status ?? ({} as ContainerStatus);
  const last = lastState?.terminated;
  if (previous) {
    if (!last) return { problem: `previous terminated ${quoted} not found` };
    return { pod, container, startedAt: timeOf(last.startedAt), isRunning: false };
  }
  const current = state?.running ?? state?.terminated ?? last;
  if (!current) return { problem: `${quoted} is waiting to start: ${state?.waiting?.reason ?? 'no reason given'}` };
  return { pod, container, startedAt: timeOf(current.startedAt), isRunning: state?.running !== undefined };
}

/** Returns the text of a container's log: that of its annotation, the output of its simulated command, or a line that reports its start. */
export function logText({ pod, container: { container, role } }: Pick<LogSource, 'pod' | 'container'>, store: FileStore): string {
  const given = settingOf(pod, 'logs', container.name);
  if (given !== undefined) return given === '' || given.endsWith('\n') ? given : `${given}\n`;
  const { stdout, stderr } = limitWork(maxWork, () => processPlan(pod, container, role, store));
  if (stdout !== undefined) return stdout + (stderr ?? '');
  return `${describeStart(container)}\n`;
}

const describeStart = ({ name, image }: Container): string => `${name}: simulated container of image ${image} started`;

/** Applies the options to the text of a run that started at the time. */
export function selectLog(text: string, startedAt: number, { since, tailLines, limitBytes, timestamps }: LogQuery): string {
  if (since !== undefined && startedAt < since) return '';
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const kept = tailLines === undefined ? lines : tailLines === 0 ? [] : lines.slice(-tailLines);
  const time = `${new Date(startedAt).toISOString().slice(0, 19)}.000000000Z `;
  const selected = kept.map((line) => `${timestamps ? time : ''}${line}\n`).join('');
  return limitBytes === undefined ? selected : Buffer.from(selected).subarray(0, limitBytes).toString();
}
