import { Counter, Gauge, type Registry } from 'prom-client';
import type { GroupResource } from '#apimachinery/meta/types';
import type { StorageFactory } from '#apiserver/registry/storage-factory';
import type { ConsistencyStatus } from '#apiserver/storage/cacher/cacher';

/** How many objects are stored. Upstream: apiserver/pkg/storage/etcd3/metrics/metrics.go. */
export function registerStorageMetrics(registry: Registry, storage: StorageFactory): void {
  const help = 'Number of stored objects at the time of last check split by kind. In case of a fetching error, the value will be -1.';
  registry.registerMetric(
    new Gauge({
      name: 'apiserver_storage_objects',
      help: `[DEPRECATED, consider using apiserver_resource_objects instead] ${help}`,
      labelNames: ['resource'],
      registers: [],
      collect() {
        for (const { group, resource, cacher } of storage.resources)
          this.set({ resource: group ? `${resource}.${group}` : resource }, cacher.stats().objectCount);
      },
    }),
  );
  registry.registerMetric(
    new Gauge({
      name: 'apiserver_resource_objects',
      help,
      labelNames: ['group', 'resource'],
      registers: [],
      collect() {
        for (const { group, resource, cacher } of storage.resources) this.set({ group, resource }, cacher.stats().objectCount);
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
