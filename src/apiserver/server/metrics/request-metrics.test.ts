import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import type { RequestContext } from '#apiserver/endpoints/request/request-context';
import { RequestMetrics } from './request-metrics.ts';

/** A GET of a pod that took so long and waited for so long, in milliseconds. */
function request(tookMs: number, waitedMs: number): RequestContext {
  const info = {
    verb: 'get',
    apiGroup: '',
    apiVersion: 'v1',
    resource: 'pods',
    subresource: '',
    namespace: 'a',
    name: 'b',
    isResourceRequest: true,
  };
  return {
    info,
    query: '',
    status: 200,
    marks: [1, 1, 1, 1],
    receivedAt: performance.now() - tookMs,
    waitedMs,
  } as unknown as RequestContext;
}

test('what a request waited for others is none of the indicator of service', async () => {
  const registry = new Registry();
  const metrics = new RequestMetrics(registry);
  for (const [took, waited] of [
    [10, 0],
    [1_500, 1_450],
    [30, 0],
  ] as const)
    metrics.done(request(took, waited));
  const lines = (await registry.metrics()).split('\n');
  const buckets = (name: string, ...bounds: string[]): (number | undefined)[] =>
    bounds.map((bound) => {
      const line = lines.find((one) => one.startsWith(`${name}_bucket`) && one.includes(`le="${bound}"`));
      return line === undefined ? undefined : Number(line.split(' ').at(-1));
    });
  expect(buckets('apiserver_request_duration_seconds', '0.005', '0.05', '0.1', '1.25', '2', '+Inf')).toEqual([0, 2, 2, 2, 3, 3]);
  expect(buckets('apiserver_request_sli_duration_seconds', '0.005', '0.05', '0.1', '+Inf')).toEqual([undefined, 2, 3, 3]);
});
