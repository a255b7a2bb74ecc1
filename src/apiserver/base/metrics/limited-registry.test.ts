import { Counter, Histogram } from 'prom-client';
import { expect, test } from 'vitest';
import { LimitedRegistry } from './limited-registry.ts';

const lines = async (registry: LimitedRegistry, name: string): Promise<string[]> =>
  (await registry.metrics()).split('\n').filter((line) => line.startsWith(name));

const verbs = new Map([['requests', new Map([['verb', new Set(['GET', 'LIST'])]])]]);

test('label values that are not allowed are merged into one', async () => {
  const registry = new LimitedRegistry({ disabled: new Set(), allowed: verbs });
  const counter = new Counter({ name: 'requests', help: 'x', labelNames: ['verb', 'code'], registers: [registry] });
  for (const verb of ['GET', 'BREW', 'WHEN']) counter.inc({ verb, code: '200' }, 2);
  expect(await lines(registry, 'requests')).toEqual(['requests{code="200",verb="GET"} 2', 'requests{code="200",verb="unexpected"} 4']);
  expect(await lines(registry, 'cardinality_')).toEqual(['cardinality_enforcement_unexpected_categorizations_total 4']);
});

test('merged histograms are summed by bucket', async () => {
  const registry = new LimitedRegistry({ disabled: new Set(), allowed: verbs });
  const histogram = new Histogram({ name: 'requests', help: 'x', labelNames: ['verb'], buckets: [1], registers: [registry] });
  histogram.observe({ verb: 'BREW' }, 0.5);
  histogram.observe({ verb: 'WHEN' }, 2);
  expect(await lines(registry, 'requests')).toEqual([
    'requests_bucket{verb="unexpected",le="1"} 1',
    'requests_bucket{verb="unexpected",le="+Inf"} 2',
    'requests_sum{verb="unexpected"} 2.5',
    'requests_count{verb="unexpected"} 2',
  ]);
});

test('a disabled metric is not exposed but can be counted', async () => {
  const registry = new LimitedRegistry({ disabled: new Set(['requests']), allowed: new Map() });
  new Counter({ name: 'requests', help: 'x', registers: [registry] }).inc();
  expect(await registry.metrics()).not.toContain('requests');
  expect(await lines(registry, 'disabled_metrics_total')).toEqual(['disabled_metrics_total 1']);
});

test('help starts with the stability of upstream metrics; metrics without series are omitted; metrics are sorted by name', async () => {
  const registry = new LimitedRegistry({ disabled: new Set(), allowed: new Map() });
  const help = 'x';
  const registers = [registry];
  for (const name of ['apiserver_storage_objects', 'apiserver_request_total', 'apiserver_flowcontrol_demand_seats', 'nodejs_own'])
    new Counter({ name, help, registers });
  new Counter({ name: 'apiserver_audit_error_total', help, labelNames: ['plugin'], registers });
  const helpLines = await lines(registry, '# HELP');
  expect(helpLines).toEqual([
    '# HELP apiserver_flowcontrol_demand_seats EXPERIMENTAL: [ALPHA] x',
    '# HELP apiserver_request_total [STABLE] x',
    '# HELP apiserver_storage_objects [STABLE] (Deprecated since 1.34.0) x',
    '# HELP cardinality_enforcement_unexpected_categorizations_total [ALPHA] The count of unexpected categorizations during cardinality enforcement.',
    '# HELP disabled_metrics_total [BETA] The count of disabled metrics.',
    '# HELP hidden_metrics_total [BETA] The count of hidden metrics.',
    '# HELP nodejs_own x',
    '# HELP registered_metrics_total [BETA] The count of registered metrics broken by stability level and deprecation version.',
  ]);
});

test('metrics with labels restart at zero and are omitted until they count again', async () => {
  const registry = new LimitedRegistry({ disabled: new Set(), allowed: new Map() });
  const plain = new Counter({ name: 'plain', help: 'x', registers: [registry] });
  const counter = new Counter({ name: 'requests', help: 'x', labelNames: ['verb'], registers: [registry] });
  const histogram = new Histogram({ name: 'seconds', help: 'x', labelNames: ['verb'], buckets: [1], registers: [registry] });
  plain.inc();
  counter.inc({ verb: 'GET' }, 7);
  histogram.observe({ verb: 'GET' }, 0.5);
  await registry.startAnew();
  expect(await lines(registry, 'requests')).toEqual([]);
  expect(await lines(registry, 'seconds')).toEqual([]);
  expect(await lines(registry, 'plain')).toEqual(['plain 1']);
  counter.inc({ verb: 'GET' }, 2);
  histogram.observe({ verb: 'GET' }, 3);
  expect(await lines(registry, 'requests')).toEqual(['requests{verb="GET"} 2']);
  expect(await lines(registry, 'seconds')).toEqual([
    'seconds_bucket{verb="GET",le="1"} 0',
    'seconds_bucket{verb="GET",le="+Inf"} 1',
    'seconds_sum{verb="GET"} 3',
    'seconds_count{verb="GET"} 1',
  ]);
});
