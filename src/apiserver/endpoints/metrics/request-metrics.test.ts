import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { atOnce } from '#apimachinery/runtime/steps';
import type { RequestContext } from '#apiserver/request/request-context';
import { noParameters, parseQuery } from '#apiserver/request/query';
import { parseRequestInfo, selectedName } from '#apiserver/request/request-info';
import { RequestMetrics } from './request-metrics.ts';

/** Returns a GET of a pod with the given duration and waiting time in milliseconds. */
function request(tookMs: number, waitedMs: number): RequestContext {
  const info = {
    verb: 'get',
    apiGroup: '',
    apiVersion: 'v1',
    resource: 'pods',
    subresource: '',
    namespace: 'a',
    name: 'b',
    parts: ['pods', 'b'],
    isResourceRequest: true,
  };
  return {
    info,
    method: 'GET',
    measured: { group: '', version: '', resource: undefined, subresource: '', component: 'apiserver', isCustom: false },
    query: '',
    status: 200,
    marks: [1, 1, 1, 1],
    receivedAt: performance.now() - tookMs,
    waitedMs,
  } as unknown as RequestContext;
}

test('the service level indicator excludes waiting time', async () => {
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

const configMaps = '/api/v1/namespaces/a/configmaps';
const resource = { group: '', version: '', resource: undefined, subresource: '', component: 'apiserver' };
const paths = { ...resource, resource: '' };

test.each([
  { ask: `GET ${configMaps}/b`, want: 'scope=resource,verb=GET' },
  { ask: `GET ${configMaps}`, want: 'scope=namespace,verb=LIST' },
  { ask: 'GET /api/v1/configmaps', want: 'scope=cluster,verb=LIST' },
  { ask: `GET ${configMaps}?fieldSelector=metadata.name%3Db`, want: 'scope=namespace,verb=LIST' },
  { ask: `GET ${configMaps}?fieldSelector=metadata.name%3Db`, isCustom: true, want: 'scope=resource,verb=GET' },
  { ask: `GET ${configMaps}?watch=1`, want: 'scope=namespace,verb=WATCH' },
  { ask: 'GET /api/v1/watch/configmaps', want: 'scope=cluster,verb=WATCH' },
  { ask: `POST ${configMaps}`, want: 'scope=resource,verb=POST' },
  { ask: `POST ${configMaps}?dryRun=All`, want: 'dry_run=All,scope=resource,verb=POST' },
  { ask: `POST ${configMaps}?dryRun=none`, want: 'dry_run=invalid,scope=resource,verb=POST' },
  { ask: `PUT ${configMaps}/b`, want: 'scope=resource,verb=PUT' },
  { ask: `PATCH ${configMaps}/b`, want: 'scope=resource,verb=PATCH' },
  { ask: `PATCH ${configMaps}/b`, type: 'application/apply-patch+yaml', want: 'scope=resource,verb=APPLY' },
  { ask: `DELETE ${configMaps}`, want: 'scope=namespace,verb=DELETE' },
])("$ask has upstream's labels: $want", async ({ ask, want, type, isCustom = false }) => {
  const [method = '', url = ''] = ask.split(' ');
  const [path = '', query = ''] = url.split('?');
  const parameters = (): URLSearchParams => parseQuery(query);
  const info = parseRequestInfo(method, path, parameters);
  const registry = new Registry();
  new RequestMetrics(registry).done({
    ...request(1, 0),
    method,
    query,
    searchParams: new URLSearchParams(query),
    info: { ...info, name: info.name || atOnce(selectedName(info, parameters)) },
    measured: { ...resource, isCustom },
    header: () => type,
  } as unknown as RequestContext);
  const [line = ''] = (await registry.metrics()).split('\n').filter((one) => one.startsWith('apiserver_request_total'));
  const labels = [...line.matchAll(/(\w+)="([^"]+)"/g)].map(([, name, value]) => `${name}=${value}`).sort();
  const common = ['code=200', 'component=apiserver', 'resource=configmaps', 'version=v1'];
  expect(labels).toEqual([...common, ...want.split(',')].sort());
});

test('requests without an endpoint are not counted; rejected ones count as terminated', async () => {
  const registry = new Registry();
  const metrics = new RequestMetrics(registry);
  metrics.done({ ...request(1, 0), measured: undefined, status: 403 } as unknown as RequestContext);
  metrics.done({
    ...request(1, 0),
    measured: { ...paths, subresource: '/livez' },
    info: parseRequestInfo('GET', '/livez', noParameters),
  } as never);
  const tooMany = { ...request(1, 0), measured: undefined, status: 429, marks: [1, 1, 0, 0], searchParams: new URLSearchParams() };
  metrics.done(tooMany as unknown as RequestContext);
  const lines = (await registry.metrics()).split('\n').filter((one) => /^apiserver_request_(total|terminations_total)/.test(one));
  expect(lines.map((line) => line.replace(/(\w+)="",?/g, ''))).toEqual([
    'apiserver_request_total{verb="GET",subresource="/livez",component="apiserver",code="200"} 1',
    'apiserver_request_total{verb="GET",version="v1",resource="pods",scope="resource",component="apiserver",code="429"} 1',
    'apiserver_request_terminations_total{verb="GET",version="v1",resource="pods",scope="resource",component="apiserver",code="429"} 1',
  ]);
});
