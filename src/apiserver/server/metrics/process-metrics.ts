import { readdirSync, readFileSync } from 'node:fs';
import { Counter, Gauge, type Registry } from 'prom-client';

/**
 * What of the process upstream shows under these names (prometheus/client_golang's process collector), and, as upstream shows Go's heap and
 * goroutines, the engine's heap and what keeps its event loop alive, by the names that prom-client gives them. Read when somebody asks.
 */
export function registerProcessMetrics(registry: Registry): void {
  const startSeconds = Math.round(Date.now() / 1000 - process.uptime());
  registry.registerMetric(
    new Counter({
      name: 'process_cpu_seconds_total',
      help: 'Total user and system CPU time spent in seconds.',
      registers: [],
      collect() {
        const { user, system } = process.cpuUsage();
        this.reset();
        this.inc((user + system) / 1e6);
      },
    }),
  );
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
    gauge('process_open_fds', 'Number of open file descriptors.', () => readdirSync('/proc/self/fd').length);
    gauge('process_max_fds', 'Maximum number of open file descriptors.', maxOpenFiles);
    gauge('process_virtual_memory_bytes', 'Virtual memory size in bytes.', virtualMemoryBytes);
  }
  gauge('nodejs_heap_size_used_bytes', 'Process heap size used from Node.js in bytes.', () => process.memoryUsage().heapUsed);
  gauge('nodejs_external_memory_bytes', 'Node.js external memory size in bytes.', () => process.memoryUsage().external);
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

/** Of Linux's own table of the process; -1: without a limit. */
function maxOpenFiles(): number {
  const [, soft] = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
  return soft === undefined || soft === 'unlimited' ? -1 : Number(soft);
}

function virtualMemoryBytes(): number {
  const [, kibibytes = 0] = /^VmSize:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return Number(kibibytes) * 1_024;
}
