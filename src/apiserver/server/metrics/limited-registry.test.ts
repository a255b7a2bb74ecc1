import { Counter, Histogram } from 'prom-client';
import { expect, test } from 'vitest';
import { LimitedRegistry } from './limited-registry.ts';

const lines = async (registry: LimitedRegistry, name: string): Promise<string[]> =>
  (await registry.metrics()).split('\n').filter((line) => line.startsWith(name));

const verbs = new Map([['requests', new Map([['verb', new Set(['GET', 'LIST'])]])]]);

test('values of a label that are not allowed are told as one', async () => {
  const registry = new LimitedRegistry({ disabled: new Set(), allowed: verbs });
  const counter = new Counter({ name: 'requests', help: 'x', labelNames: ['verb', 'code'], registers: [registry] });
  for (const verb of ['GET', 'BREW', 'WHEN']) counter.inc({ verb, code: '200' }, 2);
  expect(await lines(registry, 'requests')).toEqual(['requests{verb="GET",code="200"} 2', 'requests{verb="unexpected",code="200"} 4']);
  expect(await lines(registry, 'cardinality_')).toEqual(['cardinality_enforcement_unexpected_categorizations_total 4']);
});

test('histograms are added up bucket by bucket', async () => {
  const registry = new LimitedRegistry({ disabled: new Set(), allowed: verbs });
  const histogram = new Histogram({ name: 'requests', help: 'x', labelNames: ['verb'], buckets: [1], registers: [registry] });
  histogram.observe({ verb: 'BREW' }, 0.5);
  histogram.observe({ verb: 'WHEN' }, 2);
  expect(await lines(registry, 'requests')).toEqual([
    'requests_bucket{le="1",verb="unexpected"} 1',
    'requests_bucket{le="+Inf",verb="unexpected"} 2',
    'requests_sum{verb="unexpected"} 2.5',
    'requests_count{verb="unexpected"} 2',
  ]);
});

test('a metric that is disabled is not shown, and may be counted all the same', async () => {
  const registry = new LimitedRegistry({ disabled: new Set(['requests']), allowed: new Map() });
  new Counter({ name: 'requests', help: 'x', registers: [registry] }).inc();
  expect(await registry.metrics()).not.toContain('requests');
  expect(await lines(registry, 'disabled_metrics_total')).toEqual(['disabled_metrics_total 1']);
});
