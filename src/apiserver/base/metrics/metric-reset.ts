import type { FamilySeries, MetricFamily } from './families.ts';

/**
 * Resets metrics for `DELETE /metrics`. Counters and histograms with labels continue to count; their values at the reset are stored here
 * and subtracted. Gauges and metrics without labels are not reset. Upstream: component-base/metrics/registry.go (Reset).
 *
 * Example: count 7, reset, count 2 more: the exposed value is 9 - 7 = 2. A series is omitted until it counts again.
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
