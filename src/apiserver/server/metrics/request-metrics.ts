import { Counter, Gauge, type Registry } from 'prom-client';
import type { RequestContext } from '#apiserver/endpoints/request/request-context';
import { newSeries, observe, type Series, SeriesHistogram } from './series-histogram.ts';

/** Upstream: apiserver/pkg/endpoints/metrics/metrics.go. */
const durationBuckets = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60];

const knownVerbs = new Set([
  'get',
  'list',
  'watch',
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
  'proxy',
  'head',
  'options',
  'post',
  'put',
]);
const maxSeries = 20_000;

/**
 * Requests by verb, resource and status. The hot path adds to plain numbers, found by one key for each kind of request;
 * they become prom-client's metrics when somebody asks for /metrics. What clients can make up at will (paths, verbs) is no
 * label, so that the series are bounded (CVE-2020-8552).
 */
export class RequestMetrics {
  readonly #series = new Map<string, Series>();
  readonly #longRunning = new Map<string, number>();
  #inFlight = { readOnly: 0, mutating: 0 };

  constructor(registry: Registry) {
    const series = this.#series;
    const base = ['verb', 'dry_run', 'group', 'version', 'resource', 'subresource', 'scope', 'component'] as const;
    registry.registerMetric(
      new Counter({
        name: 'apiserver_request_total',
        help: 'Counter of apiserver requests broken out for each verb, dry run value, group, version, resource, scope, component, and HTTP response code.',
        labelNames: [...base, 'code'],
        registers: [],
        collect() {
          this.reset();
          for (const { count, labels } of series.values()) this.inc(labels, count);
        },
      }),
    );
    registry.registerMetric(
      new SeriesHistogram(
        'apiserver_request_duration_seconds',
        'Response latency distribution in seconds for each verb, dry run value, group, version, resource, subresource, scope and component.',
        base,
        durationBuckets,
        () => withoutCodes(series.values()),
      ),
    );
    const longRunning = this.#longRunning;
    registry.registerMetric(
      new Gauge({
        name: 'apiserver_longrunning_requests',
        help: 'Gauge of all active long-running apiserver requests broken out by verb, group, version, resource, scope and component.',
        labelNames: ['verb', 'group', 'version', 'resource', 'subresource', 'scope', 'component'],
        registers: [],
        collect() {
          this.reset();
          for (const [key, count] of longRunning) this.set(JSON.parse(key) as Record<string, string>, count);
        },
      }),
    );
    const current = (): { readOnly: number; mutating: number } => this.#inFlight;
    registry.registerMetric(
      new Gauge({
        name: 'apiserver_current_inflight_requests',
        help: 'Maximal number of currently used inflight request limit of this apiserver per request kind in last second.',
        labelNames: ['request_kind'],
        registers: [],
        collect() {
          this.set({ request_kind: 'readOnly' }, current().readOnly);
          this.set({ request_kind: 'mutating' }, current().mutating);
        },
      }),
    );
  }

  readonly inFlight = (inFlight: { readonly readOnly: number; readonly mutating: number }): void => {
    this.#inFlight = inFlight;
  };

  done(context: RequestContext): void {
    const { info, status } = context;
    const key = `${info.verb}|${info.apiGroup}|${info.apiVersion}|${info.resource}|${info.subresource}|${status}|${info.namespace === ''}|${info.name === ''}`;
    let series = this.#series.get(key);
    if (!series) {
      if (this.#series.size >= maxSeries) return;
      series = newSeries(durationBuckets, { ...labelsOf(context), code: String(status) });
      this.#series.set(key, series);
    }
    observe(series, durationBuckets, (performance.now() - context.receivedAt) / 1000);
  }

  longRunningBegan(context: RequestContext): void {
    this.#countLongRunning(context, 1);
  }

  longRunningEnded(context: RequestContext): void {
    this.#countLongRunning(context, -1);
    this.done(context);
  }

  #countLongRunning(context: RequestContext, by: number): void {
    const { dry_run: _, ...labels } = labelsOf(context);
    const key = JSON.stringify(labels);
    this.#longRunning.set(key, (this.#longRunning.get(key) ?? 0) + by);
  }
}

/** Labels in upstream's form; what no API serves (404) is not told apart. */
function labelsOf({ info, status, query }: RequestContext): Record<string, string> {
  const known = info.isResourceRequest && status !== 404;
  const verb = knownVerbs.has(info.verb) ? info.verb.toUpperCase() : 'other';
  const scope = !info.isResourceRequest ? '' : info.name ? 'resource' : info.namespace ? 'namespace' : 'cluster';
  return {
    verb,
    dry_run: query.includes('dryRun=All') ? 'All' : '',
    group: known ? info.apiGroup : '',
    version: known ? info.apiVersion : '',
    resource: known ? info.resource : '',
    subresource: known ? info.subresource : '',
    scope,
    component: 'apiserver',
  };
}

/** The series without the answers' codes, which the histogram does not tell apart. */
function withoutCodes(series: Iterable<Series>): Iterable<Series> {
  const byLabels = new Map<string, Series>();
  for (const one of series) {
    const { code: _, ...labels } = one.labels;
    const key = JSON.stringify(labels);
    const sum = byLabels.get(key);
    if (!sum) byLabels.set(key, { ...one, buckets: [...one.buckets], labels });
    else {
      sum.count += one.count;
      sum.sum += one.sum;
      for (const [at, count] of one.buckets.entries()) sum.buckets[at] = (sum.buckets[at] ?? 0) + count;
    }
  }
  return byLabels.values();
}
