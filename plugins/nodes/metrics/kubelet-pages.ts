import type { Pod } from 'kubenest/types/core_v1';
import type { KubeletPages } from '../kubelet/kubelet-server.ts';
import type { KnownPods } from '../pods/known-pods.ts';
import { sumOf, type Usage, usageOfPod } from './usage.ts';

/** The pages of a kubelet about its use of resources. Upstream: kubernetes/pkg/kubelet/metrics/collectors and server/stats. */
export function metricsPages(pods: KnownPods): KubeletPages {
  return {
    '/metrics/resource': (node) => ({ type: 'text/plain; version=0.0.4; charset=utf-8', body: resourceMetricsText(pods.ofNode(node)) }),
    '/stats/summary': (node) => ({ type: 'application/json', body: JSON.stringify(summary(node, pods.ofNode(node), Date.now())) }),
  };
}

const labelsOf = (labels: Readonly<Record<string, string>>): string =>
  `{${Object.entries(labels)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(',')}}`;

/** Seconds of CPU time that a container has used since its start. */
const cpuSeconds = (milliCpu: number, startedAt: string, now: number): number =>
  (milliCpu * Math.max(0, now - Date.parse(startedAt))) / 1e6;

/** Metrics of containers, pods and the node in Prometheus' text format. */
export function resourceMetricsText(pods: readonly Pod[], now = Date.now()): string {
  const families = new Map<string, string[]>();
  const add = (name: string, labels: Readonly<Record<string, string>>, value: number): void => {
    const lines = families.get(name) ?? [];
    lines.push(`${name}${Object.keys(labels).length > 0 ? labelsOf(labels) : ''} ${value}`);
    families.set(name, lines);
  };
  let nodeCpu = 0;
  for (const pod of pods) {
    const { name = '', namespace = '' } = pod.metadata;
    for (const { container, milliCpu, memoryBytes, startedAt } of usageOfPod(pod)) {
      const labels = { container, namespace, pod: name };
      const seconds = cpuSeconds(milliCpu, startedAt, now);
      nodeCpu += seconds;
      add('container_cpu_usage_seconds_total', labels, seconds);
      add('container_memory_working_set_bytes', labels, memoryBytes);
      add('container_start_time_seconds', labels, Date.parse(startedAt) / 1_000);
    }
  }
  add('node_cpu_usage_seconds_total', {}, nodeCpu);
  add('node_memory_working_set_bytes', {}, sumOf(pods.flatMap(usageOfPod)).memoryBytes);
  add('resource_scrape_error', {}, 0);
  return [...families]
    .map(([name, lines]) => `# TYPE ${name} ${name.endsWith('_total') ? 'counter' : 'gauge'}\n${lines.join('\n')}\n`)
    .join('');
}

/** The Summary of a kubelet. Upstream: k8s.io/kubelet/pkg/apis/stats/v1alpha1. */
export function summary(nodeName: string, pods: readonly Pod[], now: number): object {
  const time = new Date(now).toISOString();
  const statsOf = ({ milliCpu, memoryBytes }: Usage): object => ({
    cpu: { time, usageNanoCores: milliCpu * 1e6 },
    memory: { time, usageBytes: memoryBytes, workingSetBytes: memoryBytes },
  });
  return {
    node: { nodeName, ...statsOf(sumOf(pods.flatMap(usageOfPod))) },
    pods: pods.map((pod) => {
      const { name, namespace, uid } = pod.metadata;
      const usages = usageOfPod(pod);
      return {
        podRef: { name, namespace, uid },
        startTime: pod.status?.startTime ?? null,
        containers: usages.map((usage) => ({ name: usage.container, startTime: usage.startedAt, ...statsOf(usage) })),
        ...statsOf(sumOf(usages)),
      };
    }),
  };
}
