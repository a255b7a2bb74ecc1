import { Counter, type Registry } from 'prom-client';
import type { Scheme } from '#apiserver/registry/scheme';
import { newSeries, observe, type Series, SeriesHistogram } from '#apiserver/base/metrics/series-histogram';
import type { EtcdStorageOptions } from '#plugins/storage/etcd/etcd-storage';
import { placeOf, resourcesByPlace } from './stored-resources.ts';

const buckets = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60];
const labelNames = ['operation', 'group', 'resource'];

interface Operations {
  readonly durations: Series;
  errors: number;
}

/** Counts and times etcd requests by operation and resource. Upstream: apiserver/pkg/storage/etcd3/metrics/metrics.go. */
export function registerEtcdMetrics(registry: Registry, scheme: Scheme): NonNullable<EtcdStorageOptions['onOperation']> {
  const all = new Map<string, Operations>();
  const resourceOf = resourcesByPlace(scheme);
  const counter = (name: string, help: string, countOf: (of: Operations) => number): void =>
    registry.registerMetric(
      new Counter({
        name,
        help,
        labelNames,
        registers: [],
        collect() {
          this.reset();
          for (const one of all.values()) if (countOf(one) > 0) this.inc(one.durations.labels, countOf(one));
        },
      }),
    );
  counter('etcd_requests_total', 'Etcd request counts for each operation and object type.', ({ durations }) => durations.count);
  counter('etcd_request_errors_total', 'Etcd failed request counts for each operation and object type.', ({ errors }) => errors);
  registry.registerMetric(
    new SeriesHistogram(
      'etcd_request_duration_seconds',
      'Etcd request latency in seconds for each operation and object type.',
      labelNames,
      buckets,
      () => [...all.values()].map(({ durations }) => durations),
    ),
  );
  return (operation, key, milliseconds, failed) => {
    const place = placeOf(key);
    const { group, resource } = resourceOf(place) ?? { group: '', resource: place.split('/', 1)[0] as string };
    const id = `${operation} ${group}/${resource}`;
    let found = all.get(id);
    if (!found) {
      all.set(id, (found = { durations: newSeries(buckets, { operation, group, resource }), errors: 0 }));
    }
    observe(found.durations, buckets, milliseconds / 1_000);
    if (failed) found.errors += 1;
  };
}
