import { Counter, Gauge, type Registry } from 'prom-client';
import type { MeasuredEndpoint, RequestContext } from '#apiserver/request/request-context';
import type { RequestInfo } from '#apiserver/request/request-info';
import { newSeries, observe, type Series, SeriesHistogram } from '#apiserver/base/metrics/series-histogram';

/** Duration buckets in seconds. Upstream: apiserver/pkg/endpoints/metrics/metrics.go. */
const durationBuckets = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60];

/** Buckets of upstream's service level indicator: without the two shortest. */
const indicatorBuckets = durationBuckets.slice(2);

/** Response size buckets of reads: from a kilobyte to a gigabyte. */
const responseSizeBuckets = Array.from({ length: 7 }, (_, i) => 1_000 * 10 ** i);

/** Body size buckets up to the server's limit. Upstream: apiserver/pkg/endpoints/handlers/metrics/metrics.go. */
const bodySizeBuckets = Array.from({ length: 31 }, (_, i) => 50_000 + 100_000 * i);

/** Filter duration buckets in seconds. Upstream: apiserver/pkg/endpoints/metrics/metrics.go (requestFilterDuration). */
const filterBuckets = [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 5, 10, 15, 30];
/** Filters in the order of the chain, which is that of a request's marks. */
const filterNames = ['authentication', 'audit', 'constrainedimpersonation', 'priorityandfairness', 'authorization'];

const maxSeries = 20_000;

/** Series of one kind of request; undefined until the first observation. */
interface Observed {
  readonly whole: Series;
  /** Duration without waiting time. */
  own: Series | undefined;
  /** Response sizes of reads. */
  answers: Series | undefined;
  /** Sizes of request bodies. */
  bodies: Series | undefined;
}

/**
 * Metrics of requests by verb, resource and status. The hot path adds to plain numbers, found by one key for each kind of request;
 * they are converted when /metrics is read. Values that clients choose freely (paths, verbs) are no labels, so that the number of
 * series is bounded (CVE-2020-8552).
 */
export class RequestMetrics {
  readonly #series = new Map<string, Observed>();
  readonly #longRunning = new Set<RequestContext>();
  readonly #terminations = new Map<string, number>();
  readonly #filters: readonly Series[] = filterNames.map((filter) => newSeries(filterBuckets, { filter }));
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
    const terminations = this.#terminations;
    registry.registerMetric(
      new Counter({
        name: 'apiserver_request_terminations_total',
        help: 'Number of requests which apiserver terminated in self-defense.',
        labelNames: [...base.filter((label) => label !== 'dry_run'), 'code'],
        registers: [],
        collect() {
          this.reset();
          for (const [labels, count] of terminations) this.inc(JSON.parse(labels) as Record<string, string>, count);
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
            [...series.values()]
              .map(({ whole, own }) => own ?? whole)
              .filter(({ labels }) => labels['verb'] !== 'WATCH' && labels['dry_run'] === ''),
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
    const filters = this.#filters;
    registry.registerMetric(
      new SeriesHistogram(
        'apiserver_request_filter_duration_seconds',
        'Request filter latency distribution in seconds, for each filter type',
        ['filter'],
        filterBuckets,
        () => filters.filter(({ count }) => count > 0),
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
          for (const context of longRunning) if (context.measured) this.inc(termsOf(context));
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
    const { info, measured, status } = context;
    this.#filtered(context);
    if (!measured) {
      // Requests above the in-flight limits are rejected before any endpoint. Upstream: endpoints/metrics/metrics.go
      // (RecordDroppedRequest).
      if (status === 429 && context.marks.at(-1) === 0) this.#dropped(context);
      return;
    }
    const verb = verbOf(context, measured);
    const scope = scopeOf(context, measured);
    const dryRun = context.query.includes('dryRun') ? dryRunOf(context) : '';
    const key = `${verb}|${measured.resource ?? keyOf(info)}|${measured.version}|${measured.subresource}|${scope}|${status}|${dryRun}`;
    let observed = this.#series.get(key);
    if (!observed) {
      if (this.#series.size >= maxSeries) return;
      const labels = { ...labelsOf(context, measured, verb, scope, dryRun), code: String(status) };
      observed = { whole: newSeries(durationBuckets, labels), own: undefined, answers: undefined, bodies: undefined };
      this.#series.set(key, observed);
    }
    const { whole } = observed;
    const took = performance.now() - context.receivedAt;
    if (context.waitedMs > 0) observed.own ??= { ...whole, buckets: [...whole.buckets] };
    observe(whole, durationBuckets, took / 1000);
    if (observed.own) observe(observed.own, durationBuckets, (took - context.waitedMs) / 1000);
    if (!info.isResourceRequest || ((info.verb === 'get' || info.verb === 'list') && verb !== 'CONNECT'))
      observe((observed.answers ??= newSeries(responseSizeBuckets, whole.labels)), responseSizeBuckets, context.responseBytes);
    if (context.requestBytes >= 0 && info.isResourceRequest)
      observe((observed.bodies ??= newSeries(bodySizeBuckets, whole.labels)), bodySizeBuckets, context.requestBytes);
  }

  /**
   * Records filter durations. A filter ends at the next stage; a request that ended in a filter has no such time and is not
   * recorded.
   */
  #filtered({ marks }: RequestContext): void {
    for (let at = 0; at < this.#filters.length; at += 1) {
      const from = marks[at] ?? 0;
      const to = marks[at + 1] ?? 0;
      if (from > 0 && to > 0) observe(this.#filters[at] as Series, filterBuckets, (to - from) / 1000);
    }
  }

  /**
   * Counts a request that the server ended before or instead of its endpoint. Upstream: endpoints/metrics/metrics.go
   * (RecordRequestTermination).
   */
  readonly terminated = (context: RequestContext, code: number): void => {
    const key = JSON.stringify({ ...termsOf(context), code: String(code) });
    const count = this.#terminations.get(key) ?? 0;
    if (count > 0 || this.#terminations.size < maxSeries) this.#terminations.set(key, count + 1);
  };

  #dropped(context: RequestContext): void {
    this.terminated(context, context.status);
    const { subresource = '', ...terms } = termsOf(context);
    const labels = {
      ...terms,
      subresource: context.info.isResourceRequest ? subresource : '',
      dry_run: dryRunOf(context),
      code: String(context.status),
    };
    const key = JSON.stringify(labels);
    let observed = this.#series.get(key);
    if (!observed) {
      if (this.#series.size >= maxSeries) return;
      observed = { whole: newSeries(durationBuckets, labels), own: undefined, answers: undefined, bodies: undefined };
      this.#series.set(key, observed);
    }
    observed.whole.count += 1;
  }

  /** Yields group, version, resource and subresource of all requested existing resources. */
  *requested(): Generator<Readonly<Record<string, string>>, void> {
    const kinds = merged(present(this.#series, 'whole'), ['code', 'dry_run', 'verb', 'scope', 'component']);
    for (const { labels } of kinds) if (labels['resource'] !== '') yield labels;
  }

  longRunningBegan(context: RequestContext): void {
    this.#longRunning.add(context);
  }

  longRunningEnded(context: RequestContext): void {
    this.#longRunning.delete(context);
    this.done(context);
  }
}

const methods = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
const connectSubresources = new Set(['log', 'exec', 'portforward', 'attach', 'proxy']);

function keyOf({ apiGroup, apiVersion, resource, subresource }: RequestInfo): string {
  return `${apiGroup}|${apiVersion}|${resource}|${subresource}`;
}

/**
 * Returns the scope label. Upstream derives it from the route, for which a field selector does not matter; for custom resources
 * from the request info. Upstream: endpoints/installer.go (requestScope), endpoints/metrics/metrics.go (CleanScope).
 */
function scopeOf({ info }: RequestContext, measured: MeasuredEndpoint | undefined): string {
  if (!info.isResourceRequest) return '';
  const isRoute = measured !== undefined && !measured.isCustom;
  if ((isRoute ? info.parts.length > 1 : info.name !== '') || info.verb === 'create') return 'resource';
  return info.namespace === '' ? 'cluster' : 'namespace';
}

/** Returns the verb label. Upstream: endpoints/metrics/metrics.go (cleanVerb). */
function verbOf(context: RequestContext, measured: MeasuredEndpoint | undefined): string {
  const { info, method } = context;
  if (info.isResourceRequest) {
    if (connectSubresources.has(info.subresource)) return 'CONNECT';
    if (info.verb === 'watch') return 'WATCH';
  }
  if (method === 'GET' || method === 'HEAD') {
    const scope = scopeOf(context, measured);
    return scope === 'resource' || scope === '' ? 'GET' : 'LIST';
  }
  if (method === 'PATCH' && context.header('content-type') === 'application/apply-patch+yaml') return 'APPLY';
  return methods.has(method) ? method : 'other';
}

/** Returns the dry_run label. Upstream: endpoints/metrics/metrics.go (cleanDryRun). */
function dryRunOf({ searchParams }: RequestContext): string {
  const values = searchParams.getAll('dryRun');
  if (values.some((value) => value !== 'All')) return 'invalid';
  return values.length > 0 ? 'All' : '';
}

function labelsOf(
  { info }: RequestContext,
  measured: MeasuredEndpoint,
  verb: string,
  scope: string,
  dryRun: string,
): Record<string, string> {
  const { group, version, resource, subresource, component } = measured;
  return {
    verb,
    dry_run: dryRun,
    group: resource === undefined ? info.apiGroup : group,
    version: resource === undefined ? info.apiVersion : version,
    resource: resource ?? info.resource,
    subresource: resource === undefined ? info.subresource : subresource,
    scope,
    component,
  };
}

/**
 * Returns upstream's labels of a request without an endpoint, for non-resource paths with the path. Their number is limited by
 * `maxSeries`.
 */
function termsOf(context: RequestContext): Record<string, string> {
  const { info } = context;
  return {
    verb: verbOf(context, undefined),
    group: info.apiGroup,
    version: info.apiVersion,
    resource: info.resource,
    subresource: info.isResourceRequest ? info.subresource : info.path,
    scope: scopeOf(context, undefined),
    component: 'apiserver',
  };
}

function present(all: ReadonlyMap<string, Observed>, which: keyof Observed): Series[] {
  return [...all.values()].flatMap((observed) => observed[which] ?? []);
}

/** Verb labels of body sizes. Upstream: endpoints/handlers/metrics/metrics.go. */
const bodyVerbs: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', APPLY: 'patch' };

function withBodyVerb(series: Series): Series {
  const { verb: verbLabel = '', scope } = series.labels;
  const verb = verbLabel === 'DELETE' && scope !== 'resource' ? 'delete_collection' : (bodyVerbs[verbLabel] ?? verbLabel.toLowerCase());
  return { ...series, labels: { ...series.labels, verb } };
}

/** Merges the series that differ only in labels that the histogram does not have. */
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
