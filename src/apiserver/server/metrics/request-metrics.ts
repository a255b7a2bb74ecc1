import { Counter, Gauge, type Registry } from 'prom-client';
import type { RequestContext } from '#apiserver/endpoints/request/request-context';
import { newSeries, observe, type Series, SeriesHistogram } from './series-histogram.ts';

/** Upstream: apiserver/pkg/endpoints/metrics/metrics.go. */
const durationBuckets = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60];

/** The same without the two shortest: upstream's service level indicator. */
const indicatorBuckets = durationBuckets.slice(2);

/** Of read requests: from a kilobyte to a gigabyte. */
const responseSizeBuckets = Array.from({ length: 7 }, (_, i) => 1_000 * 10 ** i);

/** Up to the server's limit. Upstream: apiserver/pkg/endpoints/handlers/metrics/metrics.go. */
const bodySizeBuckets = Array.from({ length: 31 }, (_, i) => 50_000 + 100_000 * i);

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

/** What is known of one kind of request; undefined as long as no such request had it. */
interface Observed {
  readonly whole: Series;
  /** Without what it waited for others. */
  own: Series | undefined;
  /** Sizes of answers to who reads. */
  answers: Series | undefined;
  /** Sizes of the bodies that were sent. */
  bodies: Series | undefined;
}

/**
 * Requests by verb, resource and status. The hot path adds to plain numbers, found by one key for each kind of request;
 * they become prom-client's metrics when somebody asks for /metrics. What clients can make up at will (paths, verbs) is no
 * label, so that the series are bounded (CVE-2020-8552).
 */
export class RequestMetrics {
  readonly #series = new Map<string, Observed>();
  readonly #longRunning = new Map<string, number>();
  /** Under which labels those that are under way were counted. */
  readonly #longRunningOf = new WeakMap<RequestContext, string>();
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
          for (const { whole } of series.values()) this.inc(whole.labels, whole.count);
        },
      }),
    );
    registry.registerMetric(
      new SeriesHistogram(
        'apiserver_request_duration_seconds',
        'Response latency distribution in seconds for each verb, dry run value, group, version, resource, subresource, scope and component.',
        base,
        durationBuckets,
        () =>
          merged(
            [...series.values()].map(({ whole }) => whole),
            ['code'],
          ),
      ),
    );
    registry.registerMetric(
      new SeriesHistogram(
        'apiserver_request_sli_duration_seconds',
        'Response latency distribution (not counting webhook duration and priority & fairness queue wait times) in seconds for each verb, group, version, resource, subresource, scope and component.',
        base.filter((label) => label !== 'dry_run'),
        indicatorBuckets,
        () =>
          merged(
            [...series.values()].map(({ whole, own }) => own ?? whole).filter(({ labels }) => labels['verb'] !== 'WATCH'),
            ['code', 'dry_run'],
          ).map(withIndicatorBuckets),
      ),
    );
    registry.registerMetric(
      new SeriesHistogram(
        'apiserver_response_sizes',
        'Response size distribution in bytes for each group, version, verb, resource, subresource, scope and component.',
        base.filter((label) => label !== 'dry_run'),
        responseSizeBuckets,
        () => merged(present(series, 'answers'), ['code', 'dry_run']),
      ),
    );
    registry.registerMetric(
      new SeriesHistogram(
        'apiserver_request_body_size_bytes',
        'Apiserver request body size in bytes broken out by resource and verb.',
        ['group', 'resource', 'verb'],
        bodySizeBuckets,
        () => merged(present(series, 'bodies').map(withBodyVerb), ['code', 'dry_run', 'version', 'subresource', 'scope', 'component']),
      ),
    );
    const longRunning = this.#longRunning;
    registry.registerMetric(
      new Gauge({
        name: 'apiserver_longrunning_requests',
        help: 'Gauge of all active long-running apiserver requests broken out by verb, group, version, resource, scope and component. Not all requests are tracked this way.',
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
    const scope = `${status}|${info.namespace === ''}|${info.name === ''}`;
    const key = isKnown(context)
      ? `${info.verb}|${info.apiGroup}|${info.apiVersion}|${info.resource}|${info.subresource}|${scope}`
      : `${verbOf(context)}|${info.isResourceRequest}|${scope}`;
    let observed = this.#series.get(key);
    if (!observed) {
      if (this.#series.size >= maxSeries) return;
      const labels = { ...labelsOf(context, isKnown(context)), code: String(status) };
      observed = { whole: newSeries(durationBuckets, labels), own: undefined, answers: undefined, bodies: undefined };
      this.#series.set(key, observed);
    }
    const { whole } = observed;
    const took = performance.now() - context.receivedAt;
    if (context.waitedMs > 0) observed.own ??= { ...whole, buckets: [...whole.buckets] };
    observe(whole, durationBuckets, took / 1000);
    if (observed.own) observe(observed.own, durationBuckets, (took - context.waitedMs) / 1000);
    if (info.verb === 'get' || info.verb === 'list')
      observe((observed.answers ??= newSeries(responseSizeBuckets, whole.labels)), responseSizeBuckets, context.responseBytes);
    if (context.requestBytes >= 0 && info.isResourceRequest)
      observe((observed.bodies ??= newSeries(bodySizeBuckets, whole.labels)), bodySizeBuckets, context.requestBytes);
  }

  /** Group, version, resource and subresource of whatever was asked for and is there. */
  *requested(): Generator<Readonly<Record<string, string>>, void> {
    const kinds = merged(present(this.#series, 'whole'), ['code', 'dry_run', 'verb', 'scope', 'component']);
    for (const { labels } of kinds) if (labels['resource'] !== '') yield labels;
  }

  longRunningBegan(context: RequestContext): void {
    const { dry_run: _, ...labels } = labelsOf(context, context.info.isResourceRequest);
    const key = JSON.stringify(labels);
    this.#longRunningOf.set(context, key);
    this.#longRunning.set(key, (this.#longRunning.get(key) ?? 0) + 1);
  }

  longRunningEnded(context: RequestContext): void {
    const key = this.#longRunningOf.get(context);
    const left = (key === undefined ? 1 : (this.#longRunning.get(key) ?? 1)) - 1;
    if (key !== undefined && left > 0) this.#longRunning.set(key, left);
    else if (key !== undefined) this.#longRunning.delete(key);
    this.done(context);
  }
}

/** Whether the request came to an endpoint: what was refused before may be made up. */
function isKnown({ info, status, marks }: RequestContext): boolean {
  return info.isResourceRequest && status !== 404 && marks.at(-1) !== 0;
}

function verbOf({ info }: RequestContext): string {
  return knownVerbs.has(info.verb) ? info.verb.toUpperCase() : 'other';
}

/** Labels in upstream's form; what no API serves (404) is not told apart. */
function labelsOf(context: RequestContext, known: boolean): Record<string, string> {
  const { info, query } = context;
  const verb = verbOf(context);
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

function present(all: ReadonlyMap<string, Observed>, which: keyof Observed): Series[] {
  return [...all.values()].flatMap((observed) => observed[which] ?? []);
}

/** Bodies go by verbs of their own. */
function withBodyVerb(series: Series): Series {
  const verb = series.labels['verb'] === 'DELETECOLLECTION' ? 'delete_collection' : (series.labels['verb'] ?? '').toLowerCase();
  return { ...series, labels: { ...series.labels, verb } };
}

/** The series without labels that the histogram does not tell apart. */
function merged(series: Iterable<Series>, without: readonly string[]): Series[] {
  const byLabels = new Map<string, Series>();
  for (const one of series) {
    const labels = Object.fromEntries(Object.entries(one.labels).filter(([label]) => !without.includes(label)));
    const key = JSON.stringify(labels);
    const sum = byLabels.get(key);
    if (!sum) byLabels.set(key, { ...one, buckets: [...one.buckets], labels });
    else {
      sum.count += one.count;
      sum.sum += one.sum;
      for (const [at, count] of one.buckets.entries()) sum.buckets[at] = (sum.buckets[at] ?? 0) + count;
    }
  }
  return [...byLabels.values()];
}

function withIndicatorBuckets(series: Series): Series {
  const [first = 0, second = 0, third = 0, ...rest] = series.buckets;
  return { ...series, buckets: [first + second + third, ...rest] };
}
