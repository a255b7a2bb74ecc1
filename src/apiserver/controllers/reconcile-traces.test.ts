import type { TraceDocument } from '#apiserver/request/request-trace';
import { RequestTraces } from '#apiserver/tracing/request-traces';
import { expect, it } from 'vitest';
import { ReconcileTraces } from './reconcile-traces.ts';

it('keeps and reports the reconciles that failed or sent a request, with what queued them', () => {
  const reported: TraceDocument[] = [];
  const kept = new RequestTraces(10, (trace) => reported.push(trace));
  const traces = new ReconcileTraces('labels', { name: 'a', uid: '', groups: [], extra: {} } as never, kept);
  const reconcile = (key: string, message?: string, request?: string): void => {
    const trace = traces.begin(key);
    if (request) trace?.requested('GET', request, 200, 1);
    if (trace) traces.end(trace, message);
  };
  traces.queued('shop', 'ADDED namespaces shop');
  reconcile('shop', 'no');
  reconcile('idle');
  traces.queued('shop', 'retry 1 after error');
  reconcile('shop', undefined, '/api');
  expect(reported.map(({ method, url, status, steps }) => [method, url, status, steps.map(({ name }) => name)])).toEqual([
    ['RECONCILE', 'labels shop', 500, ['ADDED namespaces shop']],
    ['RECONCILE', 'labels shop', 200, ['retry 1 after error', 'GET /api']],
  ]);
});
