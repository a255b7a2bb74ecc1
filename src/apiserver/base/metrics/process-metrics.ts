import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { getHeapStatistics, type HeapInfo } from 'node:v8';
import { Counter, Gauge, type Registry } from 'prom-client';

/**
 * Registers process metrics under upstream's names (prometheus/client_golang's process collector) and, corresponding to Go's heap
 * and goroutines, V8's heap and active resources under prom-client's names. They are read on demand.
 */
export function registerProcessMetrics(registry: Registry): void {
  const startSeconds = Math.round(Date.now() / 1000 - process.uptime());
  const counter = (name: string, help: string, read: () => number): void =>
    registry.registerMetric(
      new Counter({
        name,
        help,
        registers: [],
        collect() {
          this.reset();
          this.inc(read());
        },
      }),
    );
  counter('process_cpu_seconds_total', 'Total user and system CPU time spent in seconds.', () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  const gauge = (name: string, help: string, read: () => number): void =>
    registry.registerMetric(
      new Gauge({
        name,
        help,
        registers: [],
        collect() {
          this.set(read());
        },
      }),
    );
  gauge('process_resident_memory_bytes', 'Resident memory size in bytes.', () => process.memoryUsage.rss());
  gauge('process_start_time_seconds', 'Start time of the process since unix epoch in seconds.', () => startSeconds);
  if (process.platform === 'linux') {
    counter('process_network_receive_bytes_total', 'Number of bytes received by the process over the network.', () =>
      networkBytes('InOctets'),
    );
    counter('process_network_transmit_bytes_total', 'Number of bytes sent by the process over the network.', () =>
      networkBytes('OutOctets'),
    );
    gauge('process_open_fds', 'Number of open file descriptors.', () => readdirSync('/proc/self/fd').length);
    gauge('process_max_fds', 'Maximum number of open file descriptors.', maxOpenFiles);
    gauge('process_virtual_memory_max_bytes', 'Maximum amount of virtual memory available in bytes.', maxAddressSpace);
    gauge('process_virtual_memory_bytes', 'Virtual memory size in bytes.', virtualMemoryBytes);
  }
  gauge('nodejs_heap_size_used_bytes', 'Process heap size used from Node.js in bytes.', () => process.memoryUsage().heapUsed);
  gauge('nodejs_external_memory_bytes', 'Node.js external memory size in bytes.', () => process.memoryUsage().external);
  registerGoNames(registry, gauge);
  registry.registerMetric(
    new Gauge({
      name: 'nodejs_active_resources',
      help: 'Number of active resources that are currently keeping the event loop alive, grouped by async resource type.',
      labelNames: ['type'],
      registers: [],
      collect() {
        this.reset();
        for (const type of process.getActiveResourcesInfo()) this.inc({ type });
      },
    }),
  );
}

/**
 * Registers the metrics that dashboards read of Go's runtime with the closest values of Node: active resources for goroutines, V8's
 * heap for Go's. Upstream: prometheus/client_golang (collectors/go_collector.go).
 */
function registerGoNames(registry: Registry, gauge: (name: string, help: string, read: () => number) => void): void {
  registry.registerMetric(
    new Gauge({
      name: 'go_info',
      help: 'Information about the Go environment.',
      labelNames: ['version'],
      registers: [],
      collect() {
        this.set({ version: `node-${process.version}` }, 1);
      },
    }),
  );
  gauge('go_goroutines', 'Number of goroutines that currently exist.', () => process.getActiveResourcesInfo().length);
  gauge(
    'go_sched_gomaxprocs_threads',
    'The number of operating system threads that can execute code simultaneously.',
    availableParallelism,
  );
  if (process.platform === 'linux') gauge('go_threads', 'Number of OS threads created.', threads);
  const heap = (name: string, help: string, read: (heap: HeapInfo) => number): void =>
    gauge(`go_memstats_${name}`, help, () => read(getHeapStatistics()));
  heap('alloc_bytes', 'Number of bytes allocated in heap and currently in use.', (of) => of.used_heap_size);
  heap(
    'heap_alloc_bytes',
    'Number of heap bytes allocated and currently in use, same as go_memstats_alloc_bytes.',
    (of) => of.used_heap_size,
  );
  heap('heap_inuse_bytes', 'Number of heap bytes that are in use.', (of) => of.total_physical_size);
  heap('heap_idle_bytes', 'Number of heap bytes waiting to be used.', (of) => Math.max(0, of.total_heap_size - of.total_physical_size));
  heap('heap_sys_bytes', 'Number of heap bytes obtained from system.', (of) => of.total_heap_size);
  gauge('go_memstats_sys_bytes', 'Number of bytes obtained from system.', () => process.memoryUsage.rss());
}

function threads(): number {
  return Number(/^Threads:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? 0);
}

/** Returns the limit of open files from Linux's process table; -1: unlimited. */
function maxOpenFiles(): number {
  const [, soft] = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
  return soft === undefined || soft === 'unlimited' ? -1 : Number(soft);
}

/** Returns the limit of the address space in bytes; 2^64 if unlimited. */
function maxAddressSpace(): number {
  const [, soft] = /^Max address space\s+(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
  return soft === undefined || soft === 'unlimited' ? 2 ** 64 : Number(soft);
}

/** Returns the IP traffic of the process's network namespace in bytes. Upstream: prometheus/procfs (proc_netstat.go). */
function networkBytes(column: 'InOctets' | 'OutOctets'): number {
  const [names = '', values = ''] = readFileSync('/proc/self/net/netstat', 'utf8').match(/^IpExt: .*$/gm) ?? [];
  return Number(values.split(' ')[names.split(' ').indexOf(column)] ?? 0);
}

function virtualMemoryBytes(): number {
  const [, kibibytes = 0] = /^VmSize:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return Number(kibibytes) * 1_024;
}
