import { Counter, Gauge, type Registry } from 'prom-client';
import { watchEventBuckets, watchListBuckets } from '#apiserver/endpoints/handlers/resource-endpoint';
import type { DelegationTarget } from '#apiserver/server/delegation';
import type { RequestMetrics } from '#apiserver/endpoints/metrics/request-metrics';
import { type Series, SeriesHistogram } from '#apiserver/base/metrics/series-histogram';

/**
 * Registers the metrics of endpoints and of requested deprecated APIs, which are collected from the chain on demand. Upstream:
 * apiserver/pkg/endpoints/metrics/metrics.go.
 */
export function registerEndpointMetrics(registry: Registry, requests: RequestMetrics, chain: readonly DelegationTarget[]): void {
  registry.registerMetric(
    new Gauge({
      name: 'apiserver_requested_deprecated_apis',
      help: 'Gauge of deprecated APIs that have been requested, broken out by API group, version, resource, subresource, and removed_release.',
      labelNames: ['group', 'version', 'resource', 'subresource', 'removed_release'],
      registers: [],
      collect() {
        this.reset();
        for (const { group = '', version = '', resource = '', subresource = '' } of requests.requested()) {
          const definition = endpointOf(chain, `${group}/${version}`, resource)?.endpoint.definition;
          if (definition?.deprecationWarning === undefined) continue;
          this.set({ group, version, resource, subresource, removed_release: definition.removedRelease ?? '' }, 1);
        }
      },
    }),
  );
  const labelNames = ['group', 'version', 'resource'];
  registry.registerMetric(
    new Counter({
      name: 'apiserver_watch_events_total',
      help: 'Number of events sent in watch clients',
      labelNames,
      registers: [],
      collect() {
        this.reset();
        for (const { labels, count } of watchEvents(chain)) this.inc(labels, count);
      },
    }),
  );
  registry.registerMetric(
    new SeriesHistogram('apiserver_watch_events_sizes', 'Watch event size distribution in bytes', labelNames, watchEventBuckets, () =>
      watchEvents(chain),
    ),
  );
  registry.registerMetric(
    new SeriesHistogram(
      'apiserver_watch_list_duration_seconds',
      'Response latency distribution in seconds for watch list requests broken by group, version, resource and scope.',
      [...labelNames, 'scope'],
      watchListBuckets,
      () => watchLists(chain),
    ),
  );
}

function* watchLists(chain: readonly DelegationTarget[]): Generator<Series, void> {
  for (const { endpoints } of chain) {
    for (const resources of endpoints.values()) {
      for (const { endpoint } of resources.values()) {
        if (endpoint.subresource !== '') continue;
        for (const series of endpoint.watchLists.values())
          yield { ...series, labels: { ...endpoint.watchEvents.labels, ...series.labels } };
      }
    }
  }
}

function endpointOf(chain: readonly DelegationTarget[], groupVersion: string, resource: string) {
  for (const { endpoints } of chain) {
    const found = endpoints.get(groupVersion)?.get(resource);
    if (found) return found;
  }
  return undefined;
}

function* watchEvents(chain: readonly DelegationTarget[]): Generator<Series, void> {
  for (const { endpoints } of chain) {
    for (const resources of endpoints.values()) {
      for (const { endpoint } of resources.values())
        if (endpoint.subresource === '' && endpoint.watchEvents.count > 0) yield endpoint.watchEvents;
    }
  }
}
