import { expect, test } from 'vitest';
import { TimingRatioHistogram } from './timing-ratio-histogram.ts';

test('counts each nanosecond for its value', () => {
  const histogram = new TimingRatioHistogram([0, 0.5, 1], 100);
  histogram.setDenominator(4, 100);
  histogram.set(1, 101);
  histogram.set(3, 103);
  histogram.set(3, 104);
  histogram.setDenominator(2, 105);
  histogram.set(0, 106);
  expect(histogram.series({ phase: 'executing' }, 110)).toEqual({
    labels: { phase: 'executing' },
    count: 10e6,
    sum: 0.25 * 2e6 + 0.75 * 2e6 + 1.5 * 1e6,
    buckets: [5e6, 2e6, 2e6, 1e6],
  });
});
