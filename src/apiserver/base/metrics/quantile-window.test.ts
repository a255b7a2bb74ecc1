import { describe, expect, it } from 'vitest';
import { QuantileWindow } from './quantile-window.ts';

describe('QuantileWindow', () => {
  it.each([
    { name: 'the middle', quantile: 0.5, want: 0.5 },
    { name: 'the slowest tenth', quantile: 0.9, want: 0.9 },
    { name: 'the slowest hundredth', quantile: 0.99, want: 0.99 },
    { name: 'the fastest', quantile: 0, want: 0.001 },
  ])('returns $name within 5 %', ({ quantile, want }) => {
    const window = new QuantileWindow(60_000, 5, 0);
    for (let at = 1; at <= 1_000; at += 1) window.observe(at / 1_000, 0);
    expect(window.quantile(quantile, 0)).toBeGreaterThan(want * 0.95);
    expect(window.quantile(quantile, 0)).toBeLessThan(want * 1.05);
    expect(window.count).toBe(1_000);
    expect(window.sum).toBeCloseTo(500.5);
  });

  it('drops observations older than the window, one sub-window at a time', () => {
    const window = new QuantileWindow(5_000, 5, 0);
    window.observe(10, 0);
    window.observe(1, 2_500);
    expect(window.quantile(1, 4_900)).toBeGreaterThan(9);
    expect(window.quantile(1, 5_100)).toBeLessThan(1.1);
    expect(window.quantile(1, 60_000)).toBeNaN();
    expect(window.count).toBe(2);
  });

  it.each([0, -1, Number.MIN_VALUE, 1e300])('counts %s in the nearest bucket', (value) => {
    const window = new QuantileWindow(1_000, 2, 0);
    window.observe(value, 0);
    expect(window.quantile(0.5, 0)).toBeGreaterThan(0);
    expect(window.quantile(0.5, 0)).toBeLessThan(10_000);
  });
});
