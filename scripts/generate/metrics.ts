import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { kubernetesModule, moduleCache } from './descriptions.ts';
import { read, type Table } from './facts.ts';
import { lines, type GeneratedFile } from './tables.ts';

interface DocumentedMetric {
  readonly name: string;
  readonly namespace?: string;
  readonly subsystem?: string;
  readonly type: string;
  readonly stabilityLevel: string;
  readonly deprecatedVersion?: string;
  readonly componentEndpoints?: readonly { readonly component: string }[];
}

const documentation = 'test/instrumentation/documentation/documentation-list.yaml';

/**
 * Returns the help prefixes of API server metrics: `{"[STABLE] ": ["apiserver_request_total", …]}`. They come from
 * upstream's list of metrics, or from the real server's output for metrics missing in the list. undefined if the Go module
 * with the list is missing. Upstream: component-base/metrics (opts.go, annotateStabilityLevel, markDeprecated;
 * timing_histogram.go).
 */
export function metricTables(facts: string, cache: string | undefined): GeneratedFile[] | undefined {
  const directory = moduleCache(cache);
  const list = directory && join(directory, kubernetesModule, documentation);
  if (!list || !existsSync(list)) return undefined;
  const prefixes = new Map<string, string>();
  const { live } = read(facts, 'metrics.json') as Record<'live', Record<string, Table>>;
  for (const [name, { stage }] of Object.entries(live)) if (typeof stage === 'string') prefixes.set(name, `[${stage}] `);
  for (const metric of parse(readFileSync(list, 'utf8')) as DocumentedMetric[]) {
    if (metric.componentEndpoints?.some(({ component }) => component === 'kube-apiserver') === false) continue;
    const { namespace, subsystem, name, type, stabilityLevel, deprecatedVersion } = metric;
    const deprecated = deprecatedVersion === undefined ? '' : `(Deprecated since ${deprecatedVersion}) `;
    const experimental = type === 'TimingRatioHistogram' ? 'EXPERIMENTAL: ' : '';
    prefixes.set([namespace, subsystem, name].filter(Boolean).join('_'), `${experimental}[${stabilityLevel}] ${deprecated}`);
  }
  const table: Record<string, string[]> = {};
  for (const [name, prefix] of [...prefixes].sort(([a], [b]) => (a < b ? -1 : 1))) (table[prefix] ??= []).push(name);
  return [{ path: 'src/apiserver/base/metrics/stability.gen.json', content: lines(table, 2) }];
}
