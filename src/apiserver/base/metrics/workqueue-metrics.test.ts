import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { WorkQueueMetrics } from './workqueue-metrics.ts';

it('counts keys that wait, run and fail', async () => {
  let now = 0;
  const registry = new Registry();
  const queue = new WorkQueueMetrics(registry, () => now).queue('q');
  const value = async (name: string, labels: object = {}): Promise<number | undefined> => {
    const { values = [] } = (await registry.getMetricsAsJSON()).find((metric) => name.startsWith(metric.name)) ?? {};
    return values.find(
      (one) =>
        ((one as { metricName?: string }).metricName ?? name) === name &&
        Object.entries(labels).every(([k, v]) => one.labels[k as 'le'] === v),
    )?.value;
  };
  queue.added('a');
  queue.added('a');
  queue.added('b');
  expect(await value('workqueue_adds_total')).toBe(2);
  expect(await value('workqueue_depth')).toBe(2);
  now = 500;
  queue.started('a');
  queue.dropped('b');
  now = 1_500;
  expect(await value('workqueue_depth')).toBe(0);
  expect(await value('workqueue_longest_running_processor_seconds')).toBe(1);
  expect(await value('workqueue_unfinished_work_seconds')).toBe(1);
  expect(await value('workqueue_queue_duration_seconds_sum')).toBe(0.5);
  expect(await value('workqueue_queue_duration_seconds_bucket', { le: 0.1 })).toBe(0);
  expect(await value('workqueue_queue_duration_seconds_bucket', { le: 1 })).toBe(1);
  queue.finished('a');
  queue.retried();
  expect(await value('workqueue_work_duration_seconds_sum')).toBe(1);
  expect(await value('workqueue_unfinished_work_seconds')).toBe(0);
  expect(await value('workqueue_retries_total')).toBe(1);
});
