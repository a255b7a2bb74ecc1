import { Counter, Gauge, type Registry } from 'prom-client';
import { SeriesHistogram } from '#apiserver/base/metrics/series-histogram';
import { type AllocationCounts, allocationBuckets } from './allocation-counts.ts';
import type { ClusterIPAllocator } from './cluster-ip-allocator.ts';
import type { NodePortAllocator } from './node-port-allocator.ts';

/** Registers metrics about the allocation of node ports and cluster IPs. Upstream: core/service/{portallocator,ipallocator}/metrics.go. */
export function registerAllocationMetrics(registry: Registry, nodePorts: NodePortAllocator, clusterIPs: ClusterIPAllocator): void {
  const counters = (
    prefix: string,
    texts: readonly [given: string, failed: string],
    labelNames: string[],
    all: () => Iterable<readonly [labels: Readonly<Record<string, string>>, counts: AllocationCounts]>,
  ): void => {
    for (const [name, help, which] of [
      ['allocation_total', texts[0], 'given'],
      ['allocation_errors_total', texts[1], 'failed'],
    ] as const) {
      registry.registerMetric(
        new Counter({
          name: `${prefix}_${name}`,
          help,
          labelNames: [...labelNames, 'scope'],
          registers: [],
          collect() {
            this.reset();
            for (const [labels, counts] of all())
              for (const [scope, count] of Object.entries(counts[which])) if (count > 0) this.inc({ ...labels, scope }, count);
          },
        }),
      );
    }
  };
  const gauge = (name: string, help: string, labelNames: string[], read: (gauge: Gauge) => void): void =>
    registry.registerMetric(
      new Gauge({
        name,
        help,
        labelNames,
        registers: [],
        collect() {
          this.reset();
          read(this);
        },
      }),
    );

  const ports = 'kube_apiserver_nodeport_allocator';
  gauge(`${ports}_allocated_ports`, 'Gauge measuring the number of allocated NodePorts for Services', [], (one) =>
    one.set(nodePorts.usage.allocated),
  );
  gauge(`${ports}_available_ports`, 'Gauge measuring the number of available NodePorts for Services', [], (one) =>
    one.set(nodePorts.usage.available),
  );
  counters(ports, ['Number of NodePort allocations', 'Number of errors trying to allocate NodePort'], [], () => [[{}, nodePorts.counts]]);

  const addresses = 'kube_apiserver_clusterip_allocator';
  gauge(`${addresses}_allocated_ips`, 'Gauge measuring the number of allocated IPs for Services', ['cidr'], (one) => {
    for (const { cidr, allocated } of clusterIPs.usage()) one.set({ cidr }, allocated);
  });
  gauge(`${addresses}_available_ips`, 'Gauge measuring the number of available IPs for Services', ['cidr'], (one) => {
    for (const { cidr, available } of clusterIPs.usage()) one.set({ cidr }, available);
  });
  counters(addresses, ['Number of Cluster IPs allocations', 'Number of errors trying to allocate Cluster IPs'], ['cidr'], () =>
    [...clusterIPs.counts].map(([cidr, counts]) => [{ cidr }, counts] as const),
  );
  registry.registerMetric(
    new SeriesHistogram(
      `${addresses}_allocation_duration_seconds`,
      'Duration in seconds to allocate a Cluster IP by ServiceCIDR',
      ['cidr'],
      allocationBuckets,
      () => [...clusterIPs.counts].flatMap(([cidr, { durations }]) => (durations.count > 0 ? [{ ...durations, labels: { cidr } }] : [])),
    ),
  );
}
