/**
 * Returns a number, or a percentage (`25%`) of `total`. Absent: 0. Upstream: apimachinery/pkg/util/intstr.GetScaledValueFromIntOrPercent.
 */
export function scaledValue(value: number | string | undefined, total: number, round: 'up' | 'down'): number {
  if (value === undefined) return 0;
  if (typeof value === 'number') return value;
  const percent = Number.parseInt(value, 10);
  return round === 'up' ? Math.ceil((percent * total) / 100) : Math.floor((percent * total) / 100);
}
