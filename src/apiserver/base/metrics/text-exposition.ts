import type { FamilySeries, MetricFamily } from './families.ts';

/**
 * Encodes the text format 0.0.4 as Prometheus' Go library does: labels sorted by name, numbers in Go's format. Upstream:
 * prometheus/common/expfmt/text_create.go.
 */
export function textOf(families: readonly MetricFamily[]): string {
  const lines: string[] = [];
  for (const { name, help, type, series } of families) {
    lines.push(`# HELP ${name} ${help.replace(/[\\\n]/g, (char) => (char === '\n' ? '\\n' : '\\\\'))}`, `# TYPE ${name} ${type}`);
    for (const one of series) {
      const inner = one.labels.map(([label, value]) => `${label}="${escapeValue(value)}"`);
      const withLabels = inner.length > 0 ? `{${inner.join(',')}}` : '';
      if (type === 'counter' || type === 'gauge') {
        lines.push(`${name}${withLabels} ${goNumber(one.value)}`);
        continue;
      }
      for (const [bound, value] of partsOf(one, type === 'histogram')) {
        const part =
          type === 'histogram' ? `_bucket{${[...inner, `le="${goNumber(bound)}"`]}}` : `{${[...inner, `quantile="${goNumber(bound)}"`]}}`;
        lines.push(`${name}${part} ${goNumber(value)}`);
      }
      lines.push(`${name}_sum${withLabels} ${goNumber(one.value)}`, `${name}_count${withLabels} ${goNumber(one.count)}`);
    }
  }
  return lines.length > 0 ? `${lines.join('\n')}\n` : '';
}

/** Returns the parts, for a histogram with its +Inf bucket. */
function partsOf({ parts, count }: FamilySeries, isHistogram: boolean): FamilySeries['parts'] {
  return isHistogram && parts.at(-1)?.[0] !== Number.POSITIVE_INFINITY ? [...parts, [Number.POSITIVE_INFINITY, count]] : parts;
}

function escapeValue(value: string): string {
  return value.replace(/[\\\n"]/g, (char) => (char === '\n' ? '\\n' : `\\${char}`));
}

/** Power of ten from which Go's shortest form has an exponent. */
const shortestPrecision = 6;

/** Formats a number like strconv.FormatFloat(value, 'g', -1, 64): `2.592e+06`, `5e-07`, `+Inf`. */
export function goNumber(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const [digits = '', power = ''] = value.toExponential().split('e');
  const exponent = Number(power);
  if (exponent >= -4 && exponent < shortestPrecision) return String(value);
  return `${digits}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}
