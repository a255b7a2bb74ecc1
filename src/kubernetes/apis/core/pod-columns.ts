import type { Column, TableRowCondition } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn, translateTimestampSince } from '#apiserver/registry/table-columns';
import { describe, stringColumn, wide } from '#kubernetes/apis/columns';
import type { ContainerStateTerminated, ContainerStatus, Pod } from '#kubernetes/schema/core_v1.gen';

interface PodSummary {
  readonly ready: number;
  readonly total: number;
  /** Value of the Status column. */
  readonly reason: string;
  readonly restarts: number;
  /** Age of the last restart; empty if there was none. */
  readonly lastRestart: string;
}

function later(a: string, b: string | undefined): string {
  return b !== undefined && (a === '' || Date.parse(b) > Date.parse(a)) ? b : a;
}

/** Formats `Error`, or for a container without a reason its exit code or signal: `ExitCode:2`, `Signal:9`. */
function terminationText({ reason, signal, exitCode = 0 }: ContainerStateTerminated): string {
  return reason || (signal ? `Signal:${signal}` : `ExitCode:${exitCode}`);
}

const holds = (pod: Pod, type: string) => pod.status?.conditions?.find((condition) => condition.type === type)?.status === 'True';

/**
 * Computes the Ready, Status and Restarts columns of a pod. During initialization, the first init container that is not done decides the
 * status (`Init:1/2`, `Init:Error`) and the restarts of all init containers count. Later the containers decide, in reverse order, and only
 * the restarts of sidecars among the init containers count. Upstream: printers.go, printPod.
 */
export function summarize(pod: Pod): PodSummary {
  const { metadata, spec, status } = pod;
  let reason = status?.reason || (status?.phase ?? '');
  for (const condition of status?.conditions ?? []) {
    if (condition.type === 'PodScheduled' && condition.reason === 'SchedulingGated') reason = 'SchedulingGated';
  }

  const sidecars = new Set(
    (spec?.initContainers ?? []).filter((container) => container.restartPolicy === 'Always').map((container) => container.name),
  );
  const total = (spec?.containers?.length ?? 0) + sidecars.size;
  let ready = 0;
  let restarts = 0;
  let lastRestart = '';
  let sidecarRestarts = 0;
  let lastSidecarRestart = '';
  let initializing = false;

  for (const [i, container] of (status?.initContainerStatuses ?? []).entries()) {
    const isSidecar = sidecars.has(container.name);
    restarts += container.restartCount ?? 0;
    lastRestart = later(lastRestart, finishedAt(container));
    if (isSidecar) {
      sidecarRestarts += container.restartCount ?? 0;
      lastSidecarRestart = later(lastSidecarRestart, finishedAt(container));
    }
    const { terminated, waiting } = container.state ?? {};
    if (terminated && !terminated.exitCode) continue;
    if (isSidecar && container.started) {
      if (container.ready) ready++;
      continue;
    }
    if (terminated) reason = `Init:${terminationText(terminated)}`;
    else if (waiting?.reason && waiting.reason !== 'PodInitializing') reason = `Init:${waiting.reason}`;
    else reason = `Init:${i}/${spec?.initContainers?.length ?? 0}`;
    initializing = true;
    break;
  }

  if (!initializing || holds(pod, 'Initialized')) {
    restarts = sidecarRestarts;
    lastRestart = lastSidecarRestart;
    let hasRunning = false;
    let errorReason = '';
    for (const container of (status?.containerStatuses ?? []).toReversed()) {
      restarts += container.restartCount ?? 0;
      lastRestart = later(lastRestart, finishedAt(container));
      const { terminated, waiting, running } = container.state ?? {};
      if (waiting?.reason) reason = waiting.reason;
      else if (terminated) {
        reason = terminationText(terminated);
        if (terminated.exitCode) errorReason = reason;
      } else if (container.ready && running) {
        hasRunning = true;
        ready++;
      }
    }
    if (reason === 'Completed') {
      const isReady = status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True');
      if (hasRunning && isReady) reason = 'Running';
      else if (errorReason) reason = errorReason;
      else if (hasRunning) reason = 'NotReady';
    }
  }

  if (metadata.deletionTimestamp) {
    if (status?.reason === 'NodeLost') reason = 'Unknown';
    else if (status?.phase !== 'Failed' && status?.phase !== 'Succeeded') reason = 'Terminating';
  }
  return { ready, total, reason, restarts, lastRestart };
}

function finishedAt(container: ContainerStatus): string | undefined {
  return container.lastState?.terminated?.finishedAt;
}

/** Returns `summarize` with a cache of one pod, since three columns in a row use the summary of the same pod. */
function summaryOfLast(): (pod: Pod) => PodSummary {
  let last: Pod | undefined;
  let summary: PodSummary | undefined;
  return (pod) => {
    if (pod !== last || !summary) {
      summary = summarize(pod);
      last = pod;
    }
    return summary;
  };
}
const summaryOf = summaryOfLast();

function readinessGatesText(pod: Pod): string {
  const gates = pod.spec?.readinessGates ?? [];
  if (gates.length === 0) return '<none>';
  return `${gates.filter(({ conditionType = '' }) => holds(pod, conditionType)).length}/${gates.length}`;
}

export const podColumns: readonly Column<Pod>[] = [
  nameColumn,
  stringColumn('Ready', 'The aggregate readiness state of this pod for accepting traffic.', (pod) => {
    const { ready, total } = summaryOf(pod);
    return `${ready}/${total}`;
  }),
  stringColumn('Status', 'The aggregate status of the containers in this pod.', (pod) => summaryOf(pod).reason),
  stringColumn(
    'Restarts',
    'The number of times the containers in this pod have been restarted and when the last container in this pod has restarted.',
    (pod, { now }) => {
      const { restarts, lastRestart } = summaryOf(pod);
      return restarts > 0 && lastRestart ? `${restarts} (${translateTimestampSince(lastRestart, now)} ago)` : String(restarts);
    },
  ),
  ageColumn,
  stringColumn('IP', describe('core_v1.PodStatus', 'podIP'), ({ status }) => status?.podIPs?.[0]?.ip || '<none>', wide),
  stringColumn('Node', describe('core_v1.PodSpec', 'nodeName'), ({ spec }) => spec?.nodeName || '<none>', wide),
  stringColumn(
    'Nominated Node',
    describe('core_v1.PodStatus', 'nominatedNodeName'),
    ({ status }) => status?.nominatedNodeName || '<none>',
    wide,
  ),
  stringColumn('Readiness Gates', describe('core_v1.PodSpec', 'readinessGates'), readinessGatesText, wide),
];

const rowConditions: Readonly<Record<string, readonly TableRowCondition[]>> = {
  Succeeded: [{ type: 'Completed', status: 'True', reason: 'Succeeded', message: 'The pod has completed successfully.' }],
  Failed: [{ type: 'Completed', status: 'True', reason: 'Failed', message: 'The pod failed.' }],
};

/** Conditions that mark the rows of completed pods, so that clients can hide them. */
export function podRowConditions({ status }: Pod): readonly TableRowCondition[] {
  const phase = status?.phase ?? '';
  return Object.hasOwn(rowConditions, phase) ? rowConditions[phase]! : [];
}
