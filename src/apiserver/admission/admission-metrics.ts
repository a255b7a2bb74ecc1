import type { Registry } from 'prom-client';
import { QuantileWindow } from '#apiserver/base/metrics/quantile-window';
import { newSeries, observe, type Series, SeriesHistogram } from '#apiserver/base/metrics/series-histogram';
import { SeriesSummary, type SummarySeries } from '#apiserver/base/metrics/series-summary';
import type { Operation } from '#apiserver/request/admission-context';

/** Histogram buckets in seconds. Upstream: apiserver/pkg/admission/metrics/metrics.go. */
const bounds = [0.005, 0.025, 0.1, 0.5, 1, 2.5];
const quantiles = [0.5, 0.9, 0.99];
const summaryMs = 5 * 3_600_000;
const summaryAges = 5;

type PhaseName = 'admit' | 'validate';

/** Measures one kind of step. It is looked up when the chain is compiled; a request only adds to plain numbers. */
export interface StepTimer {
  observe(milliseconds: number, rejected: boolean): void;
}

/** Durations of admission, in total and by plugin. */
export class AdmissionMetrics {
  readonly #plugins = new Map<string, PluginTimer>();
  readonly #steps = new Map<string, PhaseTimer>();

  constructor(registry: Registry) {
    const labels = ['type', 'operation', 'rejected'];
    registry.registerMetric(
      new SeriesHistogram(
        'apiserver_admission_controller_admission_duration_seconds',
        'Admission controller latency histogram in seconds, identified by name and broken out for each operation and API resource and type (validate or admit).',
        ['name', ...labels],
        bounds,
        () => seen(this.#plugins.values()),
      ),
    );
    registry.registerMetric(
      new SeriesHistogram(
        'apiserver_admission_step_admission_duration_seconds',
        'Admission sub-step latency histogram in seconds, broken out for each operation and API resource and step type (validate or admit).',
        labels,
        bounds,
        () => seen(this.#steps.values()),
      ),
    );
    registry.registerMetric(
      new SeriesSummary(
        'apiserver_admission_step_admission_duration_seconds_summary',
        'Admission sub-step latency summary in seconds, broken out for each operation and API resource and step type (validate or admit).',
        labels,
        quantiles,
        () => [...this.#steps.values()].flatMap((timer) => timer.summaries()),
      ),
    );
  }

  /** Returns the timer of a plugin, shared by all resources. */
  plugin(name: string, type: PhaseName, operation: Operation): StepTimer {
    return getOrMake(this.#plugins, `${name}/${type}/${operation}`, () => new PluginTimer({ name, type, operation }));
  }

  /** Returns the timer of a whole phase. */
  step(type: PhaseName, operation: Operation): StepTimer {
    return getOrMake(this.#steps, `${type}/${operation}`, () => new PhaseTimer({ type, operation }));
  }
}

function getOrMake<T>(map: Map<string, T>, key: string, make: () => T): T {
  const present = map.get(key);
  if (present !== undefined) return present;
  const made = make();
  map.set(key, made);
  return made;
}

class PluginTimer implements StepTimer {
  readonly allowed: Series;
  readonly rejected: Series;

  constructor(labels: Readonly<Record<string, string>>) {
    this.allowed = newSeries(bounds, { ...labels, rejected: 'false' });
    this.rejected = newSeries(bounds, { ...labels, rejected: 'true' });
  }

  observe(milliseconds: number, rejected: boolean): void {
    observe(rejected ? this.rejected : this.allowed, bounds, milliseconds / 1_000);
  }
}

class PhaseTimer extends PluginTimer {
  readonly #allowed = new QuantileWindow(summaryMs, summaryAges, performance.now());
  readonly #rejected = new QuantileWindow(summaryMs, summaryAges, performance.now());

  override observe(milliseconds: number, rejected: boolean): void {
    super.observe(milliseconds, rejected);
    (rejected ? this.#rejected : this.#allowed).observe(milliseconds / 1_000, performance.now());
  }

  summaries(): SummarySeries[] {
    return [
      { window: this.#allowed, labels: this.allowed.labels },
      { window: this.#rejected, labels: this.rejected.labels },
    ].filter(({ window }) => window.count > 0);
  }
}

/** Returns the series that have observations. */
function seen(timers: Iterable<PluginTimer>): Series[] {
  return [...timers].flatMap(({ allowed, rejected }) => [allowed, rejected]).filter(({ count }) => count > 0);
}
