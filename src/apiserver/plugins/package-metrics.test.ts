import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { RegistryMetrics } from '#apiserver/base/metrics/metrics';
import { PackageMetrics } from './package-metrics.ts';

const newMetrics = (): { registry: Registry; metrics: PackageMetrics } => {
  const registry = new Registry();
  return { registry, metrics: new PackageMetrics(new RegistryMetrics(registry)) };
};

it('counts, sets and observes', async () => {
  const { registry, metrics } = newMetrics();
  metrics.counter({ name: 'calls_total', help: 'Calls.', labels: ['by'] }).inc({ by: 'a' });
  metrics.gauge({ name: 'size', help: 'Size.' }).set({}, 3);
  metrics.histogram({ name: 'seconds', help: 'Seconds.', labels: ['ok'], buckets: [1, 2] }).observe({ ok: true as never }, 1.5);
  const text = await registry.metrics();
  for (const line of ['calls_total{by="a"} 1', 'size 3', 'seconds_bucket{le="2",ok="true"} 1']) expect(text).toContain(line);
});

const options = { name: 'a', help: 'A.', labels: ['l'] };
it.each<[name: string, wrong: (metrics: PackageMetrics) => void, message: string]>([
  ['a name that is invalid', (metrics) => metrics.counter({ ...options, name: 'a b' }), 'metric "a b": the name is invalid'],
  ['a name that is no text', (metrics) => metrics.counter({ ...options, name: {} as never }), 'metric without a name: the name is invalid'],
  ['a help that is no text', (metrics) => metrics.gauge({ ...options, help: {} as never }), 'metric "a": help must be a text'],
  ['labels that are no names', (metrics) => metrics.gauge({ ...options, labels: ['a-b'] }), 'metric "a": labels must be a list of names'],
  [
    'buckets that are no numbers',
    (metrics) => metrics.histogram({ ...options, buckets: ['x', {}] as never }),
    'buckets must be ascending numbers',
  ],
  ['buckets in disorder', (metrics) => metrics.histogram({ ...options, buckets: [2, 1] }), 'buckets must be ascending numbers'],
  ['an object as a label', (metrics) => metrics.gauge(options).set({ l: {} as never }, 1), 'label l must be a text'],
  ['a symbol as a label', (metrics) => metrics.counter(options).inc({ l: Symbol('l') as never }), 'label l must be a text'],
  ['a text as a value', (metrics) => metrics.counter(options).inc({ l: 'x' }, '1' as never), 'the value must be a number'],
  ['no number', (metrics) => metrics.gauge(options).set({ l: 'x' }, NaN), 'the value must be a number'],
  [
    'a gauge that is a counter',
    (metrics) => metrics.gauge({ ...options, name: 'known_total' }),
    'metric "known_total" exists and is no gauge',
  ],
  ['a counter that is a gauge', (metrics) => metrics.counter({ ...options, name: 'known' }), 'metric "known" exists and is no counter'],
])('refuses %s, and exposes the others', async (_, wrong, message) => {
  const { registry, metrics } = newMetrics();
  metrics.counter({ name: 'known_total', help: 'Known.' }).inc({});
  metrics.gauge({ name: 'known', help: 'Known.' }).set({}, 1);
  expect(() => wrong(metrics)).toThrow(message);
  expect(await registry.metrics()).toContain('known_total 1');
});
