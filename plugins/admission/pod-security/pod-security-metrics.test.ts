import type { CounterMetric, MetricLabels } from 'kubenest/sdk';
import { expect, it } from 'vitest';
import { PodSecurityMetrics } from './pod-security-metrics.ts';

it('initializes the usual series', () => {
  const series: string[] = [];
  const counter = ({ name }: { name: string }): CounterMetric => ({
    inc: (labels: MetricLabels, by) => series.push(`${name} ${Object.values(labels).join(' ')} ${by}`),
  });
  new PodSecurityMetrics({ counter, gauge: () => ({ inc() {}, set() {} }), histogram: () => ({ observe() {} }) });
  expect(series.sort()).toEqual([
    'pod_security_evaluations_total allow privileged latest enforce create pod  0',
    'pod_security_evaluations_total allow privileged latest enforce update pod  0',
    'pod_security_exemptions_total create controller  0',
    'pod_security_exemptions_total create pod  0',
    'pod_security_exemptions_total update controller  0',
    'pod_security_exemptions_total update pod  0',
  ]);
});
