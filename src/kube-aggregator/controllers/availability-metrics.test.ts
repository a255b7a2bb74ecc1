import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { AvailabilityMetrics } from './availability-metrics.ts';

const apiService = (status: string, reason: string) => ({
  apiVersion: 'apiregistration.k8s.io/v1',
  kind: 'APIService',
  metadata: { name: 'v1.a.io' },
  status: { conditions: [{ type: 'Available', status, reason }] },
});

it('counts transitions from available, and removes deleted services', async () => {
  const registry = new Registry();
  const metrics = new AvailabilityMetrics(registry);
  const lines = async (): Promise<string[]> => (await registry.metrics()).split('\n').filter((line) => line.startsWith('aggregator'));
  metrics.observe('ADDED', apiService('False', 'ServiceNotFound'));
  expect(await lines()).toEqual(['aggregator_unavailable_apiservice{name="v1.a.io"} 1']);
  metrics.observe('MODIFIED', apiService('True', 'Passed'));
  expect(await lines()).toEqual(['aggregator_unavailable_apiservice{name="v1.a.io"} 0']);
  metrics.observe('MODIFIED', apiService('False', 'FailedDiscoveryCheck'));
  metrics.observe('MODIFIED', apiService('False', 'FailedDiscoveryCheck'));
  const total = 'aggregator_unavailable_apiservice_total{name="v1.a.io",reason="FailedDiscoveryCheck"} 1';
  expect(await lines()).toEqual(['aggregator_unavailable_apiservice{name="v1.a.io"} 1', total]);
  metrics.observe('DELETED', apiService('False', 'FailedDiscoveryCheck'));
  expect(await lines()).toEqual([total]);
});
