import { readText } from '#apiserver/base/system-error';
import { parseYaml } from '#cmd/config/parse-yaml';
import { isFields } from '#cmd/config/structured-file';
import type { MetricsConfig } from '#cmd/server-config';
import { allowedLabelProblems } from './metrics-options.ts';
import type { ServerOptions } from './server-options.ts';

const manifestFlag = 'allow-metric-labels-manifest';

/** Returns the metrics configuration. Rejects with the problems of the manifest, one per line. */
export async function metricsOf({ metrics, storage }: Pick<ServerOptions, 'metrics' | 'storage'>): Promise<MetricsConfig> {
  const { allowMetricLabels, allowMetricLabelsManifest: file, disabledMetrics } = metrics;
  const mapping = file === '' ? allowMetricLabels : await readManifest(file);
  const allowed = new Map<string, Map<string, ReadonlySet<string>>>();
  for (const [key, values] of mapping) {
    const [metric = '', label = ''] = key.split(',');
    const labels = allowed.get(metric) ?? new Map<string, ReadonlySet<string>>();
    allowed.set(metric, labels.set(label, new Set(values.split(','))));
  }
  return {
    disabled: new Set(disabledMetrics),
    allowed,
    objects: storage.etcdCountMetricPollPeriod > 0,
    sizeIntervalMs: storage.etcdDbMetricPollInterval,
  };
}

/**
 * Reads the map of allowed label values. It may be the whole file, as upstream reads it, or be under `allowListMapping`, as upstream's help
 * describes.
 */
async function readManifest(file: string): Promise<ReadonlyMap<string, string>> {
  const document: unknown = parseYaml(await readText(file));
  const fields = isFields(document) && isFields(document['allowListMapping']) ? document['allowListMapping'] : document;
  if (!isFields(fields) || !Object.values(fields).every((value) => typeof value === 'string'))
    throw new Error(`--${manifestFlag}: ${file} must be a map of METRIC,LABEL to the allowed values in one string`);
  const mapping = new Map(Object.entries(fields) as [string, string][]);
  const problems = allowedLabelProblems(manifestFlag, mapping);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return mapping;
}
