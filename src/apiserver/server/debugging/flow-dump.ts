import type { Handler, RequestContext } from '#apiserver/request/request-context';
import { respondBytes } from '#apiserver/endpoints/handlers/responses';
import { groupVersionString } from '#apimachinery/meta/types';
import { Buffer } from 'node:buffer';
import type { FlowController } from '#apiserver/flowcontrol/flow-controller';
import type { FlowMetrics } from '#apiserver/flowcontrol/flow-metrics';
import type { LiveRequest } from '#apiserver/flowcontrol/live-request';
import type { SeatedRequest } from '#apiserver/flowcontrol/queue-set';

export interface DumpedFlowControl {
  readonly controller: FlowController;
  readonly metrics: FlowMetrics;
  readonly live: Iterable<LiveRequest>;
}

/** Minimum column width, including padding. */
const minColumn = 8;
const zeroTime = '0001-01-01T00:00:00Z';

/**
 * Pages of /debug/api_priority_and_fairness/ by their last path segment: priority levels, queues and requests. Upstream:
 * apiserver/pkg/util/flowcontrol/apf_controller_debug.go.
 */
export function flowDumps(flowControl: DumpedFlowControl): ReadonlyMap<string, Handler> {
  const page =
    (rows: (context: RequestContext) => readonly (readonly string[])[]): Handler =>
    async (context) => {
      // Yields so that this request counts as executing.
      await Promise.resolve();
      respondBytes(context, 200, 'text/plain; charset=utf-8', Buffer.from(table(rows(context))));
    };
  return new Map([
    ['dump_priority_levels', page(() => levelRows(flowControl))],
    ['dump_queues', page(() => queueRows(flowControl))],
    ['dump_requests', page(({ searchParams }) => requestRows(flowControl, Boolean(searchParams.get('includeRequestDetails'))))],
  ]);
}

function levelRows({ controller, metrics }: DumpedFlowControl): string[][] {
  const header =
    'PriorityLevelName ActiveQueues IsIdle IsQuiescing WaitingRequests ExecutingRequests DispatchedRequests RejectedRequests TimedoutRequests CancelledRequests';
  const levels = [...controller.levels.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  const rows = levels.map(({ name, queues }) => {
    const { waiting, executing } = queues.stats;
    const { dispatched, rejected, timedOut, cancelled } = metrics.totalsOf(name);
    const active = queues.dump().filter(({ pending }) => pending.length > 0).length;
    const isIdle = waiting === 0 && executing === 0;
    return [name, active, isIdle, false, waiting, executing, dispatched, rejected, timedOut, cancelled].map(String);
  });
  return [header.split(' '), ...rows];
}

function queueRows({ controller }: DumpedFlowControl): string[][] {
  const header =
    'PriorityLevelName Index PendingRequests ExecutingRequests SeatsInUse NextDispatchR InitialSeatsSum MaxSeatsSum TotalWorkSum';
  const rows = [...controller.levels.values()].flatMap(({ name, queues }) =>
    queues.dump().map(({ pending, executing, seatsInUse, nextDispatchR }, index) => {
      const initial = sumOf(pending, ({ work }) => work.initialSeats);
      const most = sumOf(pending, ({ seats }) => seats);
      const work = sumOf(pending, ({ totalWork }) => totalWork);
      return [name, index, pending.length, executing, seatsInUse, seatSeconds(nextDispatchR), initial, most, seatSeconds(work)].map(String);
    }),
  );
  return [header.split(' '), ...rows];
}

function requestRows({ controller, live }: DumpedFlowControl, detailed: boolean): string[][] {
  const header =
    'PriorityLevelName FlowSchemaName QueueIndex RequestIndexInQueue FlowDistingsher ArriveTime InitialSeats FinalSeats AdditionalLatency StartTime';
  const details = 'UserName Verb APIPath Namespace Name APIVersion Resource SubResource';
  const rows = [...live].map(({ request, context }) => {
    const { info, authenticatedUser, receivedAt } = context;
    const { work, flowSchema, startedAt, decide } = request;
    const classification = controller.classify(authenticatedUser, info);
    const { queue, index } = classification?.level.queues.placeOf(request) ?? { queue: -1, index: -1 };
    const row = [
      ...[classification?.level.name ?? '', flowSchema, queue, index, classification?.distinguisher ?? '', timeOf(receivedAt)],
      ...[work.initialSeats, work.finalSeats, work.additionalMs === 0 ? '0s' : `${work.additionalMs}ms`],
      decide ? zeroTime : timeOf(startedAt),
    ].map(String);
    if (!detailed) return row;
    const groupVersion = groupVersionString({ group: info.apiGroup, version: info.apiVersion });
    return [...row, authenticatedUser.name, info.verb, info.path, info.namespace, info.name, groupVersion, info.resource, info.subresource];
  });
  return [[...header.split(' '), ...(detailed ? details.split(' ') : [])], ...rows];
}

function sumOf(requests: readonly SeatedRequest[], value: (request: SeatedRequest) => number): number {
  return requests.reduce((sum, request) => sum + value(request), 0);
}

const seatSeconds = (value: number): string => `${value.toFixed(8)}ss`;

/** Converts a monotonic time to a timestamp. */
function timeOf(milliseconds: number): string {
  return new Date(performance.timeOrigin + milliseconds).toISOString();
}

/** Aligns columns like Go's text/tabwriter: each cell but the last ends with a comma. */
function table(rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) => row.map((cell, i) => (i < row.length - 1 ? `${cell},` : cell)));
  const widths = (cells[0] ?? []).map((_, i) => Math.max(minColumn, ...cells.map((row) => (row[i]?.length ?? 0) + 1)));
  return cells.map((row) => `${row.map((cell, i) => (i < row.length - 1 ? cell.padEnd(widths[i] as number) : cell)).join('')}\n`).join('');
}
