import { expect, it } from 'vitest';
import { startTestCluster } from '#testing/index';

/** Those of kube-apiserver v1.36.3 that dashboards and alerts are made of, and that a server has once it has served a little. */
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
  ...['cardinality_enforcement_unexpected_categorizations_total', 'process_cpu_seconds_total', 'process_resident_memory_bytes'],
];

it('has the families of upstream, each with a value', async () => {
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
    'apiserver_requested_deprecated_apis{group="",version="v1",resource="componentstatuses",subresource="",removed_release=""} 1',
  );
  expect(text).toContain('apiserver_request_body_size_bytes_bucket{verb="create",group="",resource="configmaps",le="50000"} 1');
  expect(text).toContain('apiserver_cache_list_returned_objects_total{group="",resource="configmaps"} 1');
  expect(text).toContain('apiserver_watch_events_total{group="",version="v1",resource="configmaps"} 1');
  expect(text).toContain('version_info{binary="1.36.3",emulation="1.36",min_compat="1.35",component="kube"} 1');
  const seconds = Number(/^apiserver_flowcontrol_demand_seats_count\{priority_level="global-default"\} (\S+)$/m.exec(text)?.[1]) / 1e9;
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThan(60);
});
