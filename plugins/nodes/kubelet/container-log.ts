import type { Buffer } from 'node:buffer';
import type { Container, ContainerStatus, Pod } from 'kubenest/types/core_v1';
import { containersOf, type PodContainer } from '../pods/container-roles.ts';
import type { FileStore } from '../pods/file-store.ts';
import type { KnownPods } from '../pods/known-pods.ts';
import { runMainProcess } from '../pods/main-process.ts';
import { settingOf } from '../pods/settings.ts';
import { bytesOfText } from '../shell/bytes.ts';
import type { OutputPart } from '../shell/process.ts';
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
  /** The only stream that is wanted; undefined for both. */
  readonly stream: OutputPart['stream'] | undefined;
}

/** Streams by their names in the query. */
const streams: Readonly<Record<string, OutputPart['stream'] | undefined>> = { Stdout: 'stdout', Stderr: 'stderr' };

/** Reads the options of a log; undefined if a number or a time is invalid. Upstream: kubernetes/pkg/kubelet/server/server.go. */
export function logQuery(query: URLSearchParams, now: number): LogQuery | undefined {
  const flag = (name: string): boolean => ['true', '1'].includes(query.get(name) ?? '');
  const number = (name: string): number | undefined => (query.has(name) ? Number(query.get(name)) : undefined);
  const numbers = [number('tailLines'), number('limitBytes'), number('sinceSeconds')];
  const sinceTime = query.get('sinceTime');
  const isValid = numbers.every((one) => one === undefined || (Number.isInteger(one) && one >= 0));
  const stream = query.get('stream') ?? 'All';
  const isStream = stream === 'All' || Object.hasOwn(streams, stream);
  if (!isValid || !isStream || (sinceTime !== null && Number.isNaN(Date.parse(sinceTime)))) return undefined;
  const [tailLines, limitBytes, sinceSeconds] = numbers;
  const since = sinceTime !== null ? Date.parse(sinceTime) : sinceSeconds === undefined ? undefined : now - sinceSeconds * 1_000;
  return {
    follow: flag('follow'),
    previous: flag('previous'),
    timestamps: flag('timestamps'),
    tailLines,
    limitBytes,
    since,
    stream: streams[stream],
  };
}

/** A run of a container whose log is requested. */
export interface LogSource {
  readonly pod: Pod;
  readonly container: PodContainer;
  readonly startedAt: number;
  /** Undefined while it runs. */
  readonly finishedAt: number | undefined;
}

/** Part of a log, and the time at which it was written, in milliseconds since the epoch. */
export interface LogPart extends Pick<OutputPart, 'stream' | 'text'> {
  readonly at: number;
}

/**
 * Finds the run of a container, or explains in the kubelet's words why it has no log. Upstream: kubelet_pods.go
 * (validateContainerLogStatus).
 */
export function logSource(pod: Pod, name: string, previous: boolean): LogSource | { readonly problem: string } {
  const container = containersOf(pod, pod.status).find(({ container: { name: own } }) => own === name);
  const quoted = `container ${JSON.stringify(name)} in pod ${JSON.stringify(pod.metadata.name)}`;
  if (!container) return { problem: `${quoted} is not available` };
  const { state, lastState } = container.status ?? ({} as ContainerStatus);
  const last = lastState?.terminated;
  if (previous) {
    if (!last) return { problem: `previous terminated ${quoted} not found` };
    return { pod, container, startedAt: timeOf(last.startedAt), finishedAt: timeOf(last.finishedAt) };
  }
  const current = state?.running ?? state?.terminated ?? last;
  if (!current) return { problem: `${quoted} is waiting to start: ${state?.waiting?.reason ?? 'no reason given'}` };
  const ended = state?.running ? undefined : (state?.terminated ?? last);
  return { pod, container, startedAt: timeOf(current.startedAt), finishedAt: ended && timeOf(ended.finishedAt) };
}

/**
 * Returns what a run has written to its log by now: the text of its annotation, the output of its simulated command, or a line that reports
 * its start.
 */
export function logParts(
  { pod, container: { container }, startedAt, finishedAt }: LogSource,
  store: FileStore,
  now: number,
): readonly LogPart[] {
  const given = settingOf(pod, 'logs', container.name);
  if (given !== undefined)
    return given === '' ? [] : [{ at: startedAt, stream: 'stdout', text: given.endsWith('\n') ? given : `${given}\n` }];
  // Times of a status are whole seconds.
  const untilSeconds = finishedAt === undefined ? (now - startedAt) / 1_000 : (finishedAt - startedAt) / 1_000 + 1;
  const run = limitWork(maxWork, () => runMainProcess(pod, container, store, untilSeconds, { showsRepetition: true }));
  if (run) return run.result.output.map(({ seconds, ...part }) => ({ at: Math.round(startedAt + seconds * 1_000), ...part }));
  return [{ at: startedAt, stream: 'stdout', text: `${describeStart(container)}\n` }];
}

const describeStart = ({ name, image }: Container): string => `${name}: simulated container of image ${image} started`;

/** Applies the options to a log. */
export function selectLog(parts: readonly LogPart[], { since = 0, tailLines, limitBytes, timestamps, stream }: LogQuery): Buffer {
  const lines = linesOf(parts).filter((line) => line.at >= since && (stream === undefined || line.stream === stream));
  const kept = tailLines === undefined ? lines : tailLines === 0 ? [] : lines.slice(-tailLines);
  const selected = kept.map(({ at, text }) => `${timestamps ? `${timestamp(at)} ` : ''}${text}\n`).join('');
  return bytesOfText(selected).subarray(0, limitBytes);
}

/** Splits a log into the lines of its streams. A line has the time of its beginning. */
function linesOf(parts: readonly LogPart[]): LogPart[] {
  const lines: { at: number; stream: LogPart['stream']; text: string }[] = [];
  /** The last line of each stream while it has no end. */
  const open: { [S in LogPart['stream']]?: (typeof lines)[number] } = {};
  for (const { at, stream, text } of parts) {
    const pieces = text.split('\n');
    const rest = pieces.pop() ?? '';
    let last: (typeof lines)[number] | undefined;
    for (const piece of rest === '' ? pieces : [...pieces, rest]) {
      last = open[stream] ?? { at, stream, text: '' };
      last.text += piece;
      if (!open[stream]) lines.push(last);
      delete open[stream];
    }
    if (rest !== '' && last) open[stream] = last;
  }
  return lines;
}

/** Time with nanoseconds, as a kubelet prints it. */
function timestamp(at: number): string {
  return new Date(at).toISOString().replace('Z', '000000Z');
}

/** Time after which the log of a running container is read again. */
const followMs = 1_000;

/** Receives the log of a run from a time on. */
export interface LogListener {
  /** False while earlier parts are unread. Later parts wait until they are read. */
  isReading(): boolean;
  added(parts: readonly LogPart[]): void;
  /** The run has ended. */
  ended(): void;
}

/** Follows the log of a running container until it ends. Dispose of the result to stop. */
export function followLog(source: LogSource, pods: KnownPods, store: FileStore, from: number, listener: LogListener): Disposable {
  const { container, startedAt } = source;
  const { namespace = '', name = '', uid } = source.pod.metadata;
  let shownUntil = from;
  const show = (run: LogSource): void => {
    const now = Date.now();
    const parts = logParts(run, store, now).filter(({ at }) => at > shownUntil);
    shownUntil = now;
    if (parts.length > 0) listener.added(parts);
  };
  const timer = setInterval(() => {
    if (listener.isReading()) show(source);
  }, followMs);
  timer.unref();
  const subscription = pods.watch(namespace, name, (changed) => {
    const next = changed?.metadata.uid === uid ? changed && logSource(changed, container.container.name ?? '', false) : undefined;
    const isSame = next !== undefined && !('problem' in next) && next.startedAt === startedAt;
    if (isSame && next.finishedAt === undefined) return;
    end();
    if (isSame) show(next);
    listener.ended();
  });
  const end = (): void => {
    clearInterval(timer);
    subscription[Symbol.dispose]();
  };
  return { [Symbol.dispose]: end };
}
