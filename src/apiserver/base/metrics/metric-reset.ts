import type { FamilySeries, MetricFamily } from './families.ts';

/**
 * What `DELETE /metrics` leaves: counters and histograms with labels are told as of then. They go on counting; what they were is kept
 * here and taken off. Gauges are what they are, and metrics without labels stay. Upstream: component-base/metrics/registry.go (Reset).
 *
 * counted 7, reset, counted 2 more: 9 - 7 = 2 is told; before it counts again, the series is not told at all.
 */
export class MetricReset {
  #before = new Map<string, FamilySeries>();

  from(families: readonly MetricFamily[]): void {
    this.#before = new Map(families.filter(isReset).flatMap(({ name, series }) => series.map((one) => [keyOf(name, one), one] as const)));
  }

  since(family: MetricFamily): MetricFamily {
    if (this.#before.size === 0 || !isReset(family)) return family;
    return { ...family, series: family.series.flatMap((one) => difference(one, this.#before.get(keyOf(family.name, one)))) };
  }
}

function isReset({ type, series }: MetricFamily): boolean {
  return (type === 'counter' || type === 'histogram') && series.some(({ labels }) => labels.length > 0);
}

function keyOf(name: string, { labels }: FamilySeries): string {
  return `${name} ${JSON.stringify(labels)}`;
}

function difference(now: FamilySeries, before: FamilySeries | undefined): FamilySeries[] {
  if (!before) return [now];
  if (now.value === before.value && now.count === before.count) return [];
  const parts = now.parts.map(([bound, value], at) => [bound, value - (before.parts[at]?.[1] ?? 0)] as const);
  return [{ labels: now.labels, value: now.value - before.value, count: now.count - before.count, parts }];
}
