import { Check, Flag } from './flag.ts';

const metricName = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const keyForm = new RegExp(`^${metricName},[a-zA-Z_][a-zA-Z0-9_]*$`);
const nameForm = new RegExp(`^${metricName}$`);

/** Returns the problems with the keys (`metric,label`) of a map of allowed values. */
export function allowedLabelProblems(flag: string, mapping: ReadonlyMap<string, string>): string[] {
  return [...mapping.keys()]
    .filter((key) => !keyForm.test(key))
    .map((key) => `--${flag}: ${JSON.stringify(key)} must be of the form METRIC,LABEL`);
}

/** Selection of the metrics that /metrics exposes. Upstream: component-base/metrics/options.go. */
export class MetricsOptions {
  /** Allowed values of a label, comma-separated, by `metric,label`. */
  @Flag('allow-metric-labels')
  @Check<MetricsOptions>((mapping: ReadonlyMap<string, string>, { allowMetricLabelsManifest }) => [
    ...allowedLabelProblems('allow-metric-labels', mapping),
    ...(mapping.size > 0 && allowMetricLabelsManifest !== ''
      ? ['--allow-metric-labels and --allow-metric-labels-manifest cannot be given both']
      : []),
  ])
  allowMetricLabels: ReadonlyMap<string, string> = new Map();

  /** Path of a YAML file with such a map. */
  @Flag('allow-metric-labels-manifest')
  allowMetricLabelsManifest = '';

  @Flag('disabled-metrics')
  @Check<MetricsOptions>((names: readonly string[]) =>
    names
      .filter((name) => !nameForm.test(name))
      .map((name) => `--disabled-metrics: ${JSON.stringify(name)} must be the fully qualified name of a metric`),
  )
  disabledMetrics: readonly string[] = [];
}
