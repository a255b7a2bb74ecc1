import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { startTestCluster } from '#testing/index';

/** Metric families of kube-apiserver v1.36.3 used by dashboards and alerts, which every server has after some requests. */
const families = [
  ...['apiserver_request_total', 'apiserver_request_duration_seconds', 'apiserver_request_sli_duration_seconds'],
  ...['apiserver_longrunning_requests', 'apiserver_current_inflight_requests', 'apiserver_resource_objects', 'apiserver_storage_objects'],
  ...['apiserver_resource_size_estimate_bytes', 'apiserver_watch_cache_resource_version', 'apiserver_watch_cache_initializations_total'],
  ...['apiserver_watch_cache_events_received_total', 'apiserver_admission_controller_admission_duration_seconds'],
  ...['apiserver_admission_step_admission_duration_seconds', 'authentication_attempts', 'authentication_duration_seconds'],
  ...['authenticated_user_requests', 'authorization_attempts_total', 'authorization_duration_seconds'],
  ...['read_vs_write_current_requests', 'priority_level_request_utilization', 'priority_level_seat_utilization', 'demand_seats'].map(
    (name) => `apiserver_flowcontrol_${name}`,
  ),
  ...['dispatched_requests_total', 'request_execution_seconds', 'current_limit_seats', 'nominal_limit_seats', 'seat_fair_frac'].map(
    (name) => `apiserver_flowcontrol_${name}`,
  ),
  ...['kubernetes_build_info', 'kubernetes_feature_enabled', 'disabled_metrics_total', 'hidden_metrics_total'],
  ...['apiserver_response_sizes', 'apiserver_request_body_size_bytes', 'apiserver_watch_events_total', 'apiserver_watch_events_sizes'],
  ...['apiserver_watch_cache_events_dispatched_total', 'apiserver_cache_list_total', 'apiserver_cache_list_fetched_objects_total'],
  ...['apiserver_cache_list_returned_objects_total', 'apiserver_storage_list_total', 'apiserver_storage_list_fetched_objects_total'],
  ...['apiserver_client_certificate_expiration_seconds', 'version_info', 'apiserver_requested_deprecated_apis'],
  ...['request_duration_seconds', 'active_fetch_count', 'fetch_total', 'request_total'].map((name) => `authentication_token_cache_${name}`),
  ...['watch_cache_capacity', 'apiserver_request_filter_duration_seconds', 'go_info', 'go_goroutines', 'go_threads'],
  ...['go_memstats_alloc_bytes', 'go_memstats_heap_inuse_bytes', 'go_memstats_sys_bytes', 'go_sched_gomaxprocs_threads'],
  ...['cardinality_enforcement_unexpected_categorizations_total', 'process_cpu_seconds_total', 'process_resident_memory_bytes'],
];

it("has upstream's families, each with a value", async () => {
  await using cluster = await startTestCluster({ users: [{ name: 'jane' }] });
  const path = '/api/v1/namespaces/default/configmaps';
  expect((await cluster.fetch(path, { body: { metadata: { name: 'c' } } })).status).toBe(201);
  expect((await cluster.fetch(path, { as: 'jane' })).status).toBe(403);
  expect((await cluster.fetch(path)).status).toBe(200);
  expect((await cluster.fetch('/api/v1/componentstatuses')).status).toBe(200);
  const watching = new AbortController();
  const watch = cluster.fetch(`${path}?watch=1`, { signal: watching.signal });
  watch.catch(() => {});
  await (await watch).body?.getReader().read();
  const text = await (await cluster.fetch('/metrics')).text();
  watching.abort();
  const shown = new Set(text.split('\n').flatMap((line) => /^([a-z_]+?)(_bucket|_sum|_count)?[{ ]/.exec(line)?.[1] ?? []));
  expect(families.filter((name) => !shown.has(name) && !shown.has(name.replace(/_count$/, '')))).toEqual([]);
  expect(text).toMatch(/^authorization_attempts_total\{result="no-opinion"\} 1$/m);
  expect(text).toMatch(/^kubernetes_feature_enabled\{name="WatchList",stage="BETA"\} 1$/m);
  expect(text).toContain(
    'apiserver_requested_deprecated_apis{group="",removed_release="",resource="componentstatuses",subresource="",version="v1"} 1',
  );
  expect(text).toContain('apiserver_request_body_size_bytes_bucket{group="",resource="configmaps",verb="create",le="50000"} 1');
  expect(text).toContain('apiserver_cache_list_returned_objects_total{group="",resource="configmaps"} 1');
  expect(text).toContain('apiserver_watch_events_total{group="",resource="configmaps",version="v1"} 1');
  expect(text).toContain('version_info{binary="1.36.3",component="kube",emulation="1.36",min_compat="1.35"} 1');
  const seconds = Number(/^apiserver_flowcontrol_demand_seats_count\{priority_level="global-default"\} (\S+)$/m.exec(text)?.[1]) / 1e9;
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThan(60);
});

const protobuf = 'application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited';
const text = 'text/plain; version=0.0.4; charset=utf-8; escaping=';

it.each([
  { accept: undefined, type: `${text}underscores` },
  { accept: 'application/json', type: `${text}underscores` },
  { accept: 'application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;escaping=dots;q=0.3', type: `${text}dots` },
  { accept: 'text/plain;escaping=allow-utf-8', type: `${text}allow-utf-8` },
  {
    accept: `text/plain;q=0.5,${protobuf}`,
    type: 'application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited; escaping=underscores',
  },
])('answers in the requested exposition format: $accept', async ({ accept, type }) => {
  await using cluster = await startTestCluster();
  for (const method of ['GET', 'POST']) {
    const answer = await cluster.fetch('/metrics', { method, headers: accept === undefined ? {} : { accept } });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe(type);
    expect(Number(answer.headers.get('process-start-time-unix'))).toBeGreaterThan(1_000_000_000);
  }
});

it('restarts counters after a DELETE', async () => {
  await using cluster = await startTestCluster();
  const count =
    'apiserver_request_total{code="200",component="",dry_run="",group="",resource="",scope="",subresource="/livez",verb="GET",version=""}';
  for (let asked = 0; asked < 3; asked += 1) await cluster.fetch('/livez');
  // A request is counted at its end, shortly after its response.
  await setImmediate();
  expect(await (await cluster.fetch('/metrics')).text()).toContain(`${count} 3`);
  expect(await (await cluster.fetch('/metrics', { method: 'DELETE' })).text()).toBe('metrics reset\n');
  expect(await (await cluster.fetch('/metrics')).text()).not.toContain(count);
  await cluster.fetch('/livez');
  await setImmediate();
  expect(await (await cluster.fetch('/metrics')).text()).toContain(`${count} 1`);
});

/** Returns the value of a series whose labels are sorted by name; undefined if it does not exist. */
function valueOf(text: string, series: string): number | undefined {
  const line = text.split('\n').find((one) => one.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

it('counts allocations from service ranges', async () => {
  await using cluster = await startTestCluster();
  const create = async (name: string, spec: object): Promise<number> =>
    (await cluster.fetch('/api/v1/namespaces/default/services', { body: { metadata: { name }, spec } })).status;
  const metrics = async (): Promise<string> => (await cluster.fetch('/metrics')).text();
  const nodePorts = 'kube_apiserver_nodeport_allocator';
  const clusterIPs = 'kube_apiserver_clusterip_allocator';
  const before = await metrics();
  const ports = [{ port: 80 }];
  expect(await create('any', { type: 'NodePort', ports })).toBe(201);
  expect(await create('chosen', { type: 'NodePort', clusterIP: '10.0.0.77', ports: [{ port: 80, nodePort: 30_077 }] })).toBe(201);
  expect(await create('again', { type: 'NodePort', ports: [{ port: 80, nodePort: 30_077 }] })).toBe(422);
  expect(await create('same', { clusterIP: '10.0.0.77', ports })).toBe(422);
  const text = await metrics();
  const grown = (series: string): number => (valueOf(text, series) ?? 0) - (valueOf(before, series) ?? 0);
  expect(grown(`${nodePorts}_allocation_total{scope="dynamic"}`)).toBe(1);
  expect(grown(`${nodePorts}_allocation_total{scope="static"}`)).toBe(1);
  expect(grown(`${nodePorts}_allocation_errors_total{scope="static"}`)).toBe(1);
  expect(grown(`${nodePorts}_allocated_ports`)).toBe(2);
  expect(valueOf(text, `${nodePorts}_available_ports`)).toBe(2_768 - (valueOf(text, `${nodePorts}_allocated_ports`) ?? 0));
  const cidr = 'cidr="10.0.0.0/24"';
  expect(grown(`${clusterIPs}_allocation_total{${cidr},scope="static"}`)).toBe(1);
  expect(grown(`${clusterIPs}_allocation_total{${cidr},scope="dynamic"}`)).toBeGreaterThanOrEqual(1);
  expect(grown(`${clusterIPs}_allocation_errors_total{${cidr},scope="static"}`)).toBe(1);
  const allocated = valueOf(text, `${clusterIPs}_allocated_ips{${cidr}}`) ?? 0;
  expect(allocated).toBeGreaterThanOrEqual(2);
  expect(valueOf(text, `${clusterIPs}_available_ips{${cidr}}`)).toBe(254 - allocated);
  expect(valueOf(text, `${clusterIPs}_allocation_duration_seconds_count{${cidr}}`)).toBeGreaterThanOrEqual(2);
});

it('counts consistent reads, lists by watches, authorizer decisions and custom resource rules', async () => {
  await using cluster = await startTestCluster({ users: [{ name: 'jane' }] });
  const path = '/api/v1/namespaces/default/configmaps';
  expect((await cluster.fetch(path)).status).toBe(200);
  expect((await cluster.fetch(`${path}?resourceVersion=1&resourceVersionMatch=NotOlderThan`)).status).toBe(200);
  expect((await cluster.fetch('/version', { as: 'jane' })).status).toBe(200);
  const watching = new AbortController();
  const query = 'watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan';
  const watch = cluster.fetch(`${path}?${query}`, { signal: watching.signal });
  watch.catch(() => {});
  await (await watch).body?.getReader().read();
  const rules = [{ rule: 'self > 0' }];
  const names = { plural: 'foos', singular: 'foo', kind: 'Foo', listKind: 'FooList' };
  const schema = { openAPIV3Schema: { type: 'object', properties: { a: { type: 'integer', 'x-kubernetes-validations': rules } } } };
  const spec = { group: 'example.com', scope: 'Cluster', names, versions: [{ name: 'v1', served: true, storage: true, schema }] };
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  expect((await cluster.fetch(definitions, { body: { metadata: { name: 'foos.example.com' }, spec } })).status).toBe(201);
  const object = { apiVersion: 'example.com/v1', kind: 'Foo', metadata: { name: 'f' }, a: 0 };
  await expect.poll(async () => (await cluster.fetch('/apis/example.com/v1/foos', { body: object })).status).toBe(422);
  const text = await (await cluster.fetch('/metrics')).text();
  watching.abort();
  const resource = 'group="",resource="configmaps"';
  expect(valueOf(text, 'apiserver_watch_cache_consistent_read_total{fallback="false",group="",resource="configmaps",success="true"}')).toBe(
    1,
  );
  expect(valueOf(text, `apiserver_watch_cache_read_wait_seconds_count{${resource}}`)).toBeGreaterThanOrEqual(1);
  expect(valueOf(text, `apiserver_watch_list_duration_seconds_count{${resource},scope="namespace",version="v1"}`)).toBe(1);
  expect(valueOf(text, 'apiserver_authorization_decisions_total{decision="allowed",name="rbac",type="RBAC"}')).toBeGreaterThanOrEqual(1);
  expect(valueOf(text, 'apiserver_cel_compilation_duration_seconds_count')).toBeGreaterThanOrEqual(1);
  expect(valueOf(text, 'apiserver_cel_evaluation_duration_seconds_count')).toBeGreaterThanOrEqual(1);
  expect(
    valueOf(text, 'apiserver_storage_events_received_total{group="apiextensions.k8s.io",resource="customresourcedefinitions"}'),
  ).toBeGreaterThan(0);
  expect(valueOf(text, 'apiserver_current_inqueue_requests{request_kind="mutating"}')).toBe(0);
  expect(valueOf(text, 'registered_metrics_total{deprecated_version="1.34.0",stability_level="STABLE"}')).toBe(1);
  expect(valueOf(text, 'registered_metrics_total{deprecated_version="",stability_level="BETA"}')).toBeGreaterThan(5);
  const flow = 'execute="true",flow_schema="global-default",priority_level="global-default"';
  expect(valueOf(text, `apiserver_flowcontrol_request_wait_duration_seconds_count{${flow}}`)).toBeGreaterThanOrEqual(1);
  expect(text).not.toMatch(/^apiserver_flowcontrol_current_inqueue_requests\{.*exempt/m);
  const evaluation = 'decision="allow",mode="enforce",policy_level="privileged",policy_version="latest"';
  expect(valueOf(text, `pod_security_evaluations_total{${evaluation},request_operation="create",resource="pod",subresource=""}`)).toBe(0);
});
