import { Counter, Gauge, type Registry } from 'prom-client';
import type { GroupResource } from '#apimachinery/meta/types';
import type { StorageFactory } from './storage-factory.ts';
import { heldBytes } from '#apiserver/storage/cacher/cached-object';
import type { Cacher, ConsistencyStatus } from '#apiserver/storage/cacher/cacher';
import { readWaitBuckets } from '#apiserver/storage/cacher/read-counts';
import type { ListCounts } from '#apiserver/storage/cacher/list-counts';
import type { Storage } from '#apiserver/storage/storage';
import { SeriesHistogram } from '#apiserver/base/metrics/series-histogram';

/**
 * Registers metrics of the number and size of stored objects, computed on demand. Upstream: apiserver/pkg/storage/etcd3/metrics/metrics.go.
 */
export function registerObjectMetrics(registry: Registry, storage: StorageFactory): void {
  const count = 'Number of stored objects at the time of last check split by kind. In case of a fetching error, the value will be -1.';
  registry.registerMetric(
    new Gauge({
      name: 'apiserver_storage_objects',
      help: `[DEPRECATED, consider using apiserver_resource_objects instead] ${count}`,
      labelNames: ['resource'],
      registers: [],
      collect() {
        this.reset();
        for (const { group, resource, cacher } of storage.resources)
          this.set({ resource: group ? `${resource}.${group}` : resource }, cacher.stats().objectCount);
      },
    }),
  );
  registerByResource(registry, storage, Gauge, 'apiserver_resource_objects', count, (cacher) => cacher.stats().objectCount);
  registerByResource(
    registry,
    storage,
    Gauge,
    'apiserver_resource_size_estimate_bytes',
    'Estimated size of stored objects in database. Estimate is based on sum of last observed sizes of serialized objects. In case of a fetching error, the value will be -1.',
    (cacher) => {
      const { objectCount, estimatedAverageObjectSizeBytes } = cacher.stats();
      return objectCount * estimatedAverageObjectSizeBytes;
    },
  );
}

/** Registers the metrics of watch caches. Upstream: apiserver/pkg/storage/cacher/metrics/metrics.go. */
export function registerCacheMetrics(registry: Registry, storage: StorageFactory): void {
  const counter = (name: string, help: string, value: (cacher: Cacher) => number, showsNone = true): void =>
    registerByResource(registry, storage, Counter, name, help, value, showsNone);
  registerByResource(
    registry,
    storage,
    Gauge,
    'watch_cache_capacity',
    'Total capacity of watch cache broken by resource type.',
    (cacher) => cacher.historyCapacity,
  );
  registerByResource(
    registry,
    storage,
    Gauge,
    'apiserver_watch_cache_resource_version',
    'Current resource version of watch cache broken by resource type. This is truncated to the 15 least significant digits.',
    (cacher) => cacher.currentRevision() % 1e15,
  );
  counter(
    'apiserver_watch_cache_initializations_total',
    'Counter of watch cache initializations broken by resource type.',
    (cacher) => cacher.counts.initializations,
  );
  counter(
    'apiserver_watch_cache_events_received_total',
    'Counter of events received in watch cache broken by resource type.',
    (cacher) => cacher.counts.received,
    false,
  );
  counter(
    'apiserver_storage_events_received_total',
    'Number of etcd events received split by kind.',
    (cacher) => cacher.counts.received,
    false,
  );
  registerReads(registry, storage);
  counter(
    'apiserver_watch_cache_events_dispatched_total',
    'Counter of events dispatched in watch cache broken by resource type.',
    (cacher) => cacher.counts.dispatched,
  );
  for (const [name, help, value] of storageLists)
    counter(`apiserver_storage_list_${name}`, help, (cacher) => value(cacher.counts.fromStorage));
  for (const [name, help, value] of cacheLists) {
    registry.registerMetric(
      new Counter({
        name: `apiserver_cache_list_${name}`,
        help,
        labelNames: name === 'returned_objects_total' ? byResource : [...byResource, 'index'],
        registers: [],
        collect() {
          this.reset();
          for (const { group, resource, cacher } of storage.resources) {
            for (const [index, counts] of cacher.counts.fromCache)
              this.inc(name === 'returned_objects_total' ? { group, resource } : { group, resource, index }, value(counts));
          }
        },
      }),
    );
  }
}

/**
 * Registers metrics of watches of shards, for the feature gate ShardedListAndWatch. Upstream:
 * apiserver/pkg/storage/cacher/metrics/metrics.go.
 */
export function registerShardMetrics(registry: Registry, storage: StorageFactory): void {
  registerByResource(
    registry,
    storage,
    Gauge,
    'apiserver_watch_shards_total',
    'Number of active sharded watch connections broken by resource type.',
    (cacher) => cacher.counts.shards.watchers,
    false,
  );
  registerByResource(
    registry,
    storage,
    Counter,
    'apiserver_watch_filtered_events_total',
    'Counter of events filtered out by shard selector during watch dispatch, broken by resource type.',
    (cacher) => cacher.counts.shards.filtered,
    false,
  );
}

const byResource = ['group', 'resource'];

/** Registers a metric with a value for each resource, computed on demand; without `showsNone`, zeros are left out. */
function registerByResource(
  registry: Registry,
  storage: StorageFactory,
  Metric: typeof Gauge | typeof Counter,
  name: string,
  help: string,
  value: (cacher: Cacher) => number,
  showsNone = true,
): void {
  const collect = function (this: Gauge | Counter): void {
    this.reset();
    for (const { group, resource, cacher } of storage.resources) {
      const number = value(cacher);
      if (number !== 0 || showsNone) this.inc({ group, resource }, number);
    }
  };
  registry.registerMetric(new Metric({ name, help, labelNames: byResource, registers: [], collect }));
}

/** Registers metrics of the memory of cached objects; rarely read ones are packed. Upstream has no such metric. */
export function registerCacheMemory(registry: Registry): void {
  const gauge = (name: string, help: string, value: () => number): void => {
    registry.registerMetric(
      new Gauge({
        name,
        help,
        registers: [],
        collect() {
          this.set(value());
        },
      }),
    );
  };
  gauge('kubenest_watch_cache_object_bytes', 'Size of the objects and past states that watch caches hold.', () => heldBytes().live);
  gauge('kubenest_watch_cache_memory_bytes', 'Memory that watch caches hold them in, packed or not.', () => heldBytes().footprint);
}

/** Registers metrics of consistent reads from the watch cache. */
function registerReads(registry: Registry, storage: StorageFactory): void {
  registry.registerMetric(
    new Counter({
      name: 'apiserver_watch_cache_consistent_read_total',
      help: 'Counter for consistent reads from cache.',
      labelNames: ['group', 'resource', 'success', 'fallback'],
      registers: [],
      collect() {
        this.reset();
        for (const { group, resource, cacher } of storage.resources) {
          const { served, fellBack, failed } = cacher.counts.reads;
          const add = (success: string, fallback: string, count: number): void => {
            if (count > 0) this.inc({ group, resource, success, fallback }, count);
          };
          add('true', 'false', served);
          add('true', 'true', fellBack);
          add('false', 'true', failed);
        }
      },
    }),
  );
  registry.registerMetric(
    new SeriesHistogram(
      'apiserver_watch_cache_read_wait_seconds',
      'Histogram of time spent waiting for a watch cache to become fresh.',
      ['group', 'resource'],
      readWaitBuckets,
      () =>
        [...storage.resources].flatMap(({ group, resource, cacher }) => {
          const { waits } = cacher.counts.reads;
          return waits.count > 0 ? [{ ...waits, labels: { group, resource } }] : [];
        }),
    ),
  );
}

type ListMetric = readonly [name: string, help: string, value: (counts: Readonly<ListCounts>) => number];

const cacheLists: readonly ListMetric[] = [
  ['total', 'Number of LIST requests served from watch cache', ({ lists }) => lists],
  ['fetched_objects_total', 'Number of objects read from watch cache in the course of serving a LIST request', ({ read }) => read],
  ['returned_objects_total', 'Number of objects returned for a LIST request from watch cache', ({ returned }) => returned],
];

/** Metrics of LIST requests that the storage serves. Upstream: apiserver/pkg/storage/etcd3/metrics/metrics.go. */
const storageLists: readonly ListMetric[] = [
  ['total', 'Number of LIST requests served from storage', ({ lists }) => lists],
  ['fetched_objects_total', 'Number of objects read from storage in the course of serving a LIST request', ({ read }) => read],
  ['evaluated_objects_total', 'Number of objects tested in the course of serving a LIST request from storage', ({ read }) => read],
  ['returned_objects_total', 'Number of objects returned for a LIST request from storage', ({ returned }) => returned],
];

/** Registers the size of the store, which is read at most once in `intervalMs`; no metric for backends without a size. */
export function registerStorageSize(registry: Registry, storage: Storage, intervalMs: number): void {
  if (!storage.size) return;
  const ask = storage.size.bind(storage);
  let known: { readonly at: number; readonly bytes: number } | undefined;
  registry.registerMetric(
    new Gauge({
      name: 'apiserver_storage_size_bytes',
      help: 'Size of the storage database file physically allocated in bytes.',
      labelNames: ['storage_cluster_id'],
      registers: [],
      async collect() {
        const now = performance.now();
        if (!known || now - known.at >= intervalMs) known = { at: now, bytes: await ask().catch(() => -1) };
        this.set({ storage_cluster_id: 'etcd-0' }, known.bytes);
      },
    }),
  );
}

/** Counts comparisons of caches with the storage. Upstream: apiserver/pkg/storage/cacher/metrics/metrics.go. */
export function consistencyCheckCounter(registry: Registry): (resource: GroupResource, status: ConsistencyStatus) => void {
  const counter = new Counter({
    name: 'apiserver_storage_consistency_checks_total',
    help: 'Counter for status of consistency checks between etcd and watch cache',
    labelNames: ['group', 'resource', 'status'],
    registers: [registry],
  });
  return ({ group, resource }, status) => counter.inc({ group, resource, status });
}
