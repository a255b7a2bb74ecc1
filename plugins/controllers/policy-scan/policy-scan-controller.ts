import { Clock, Controller, ControllerClient, inject, isNotFound, Logger, Metrics } from 'kubenest/sdk';
import { PolicyReports, PolicyScan, type ReportGroup, type ScannedObject, type ScanProgress } from '#sdk/internal';
import { repeat } from '../common/repeat.ts';
import { PolicyScanMetrics } from './policy-scan-metrics.ts';

/** Interval of the checks for changes, in milliseconds. */
const changesMs = 2_000;
/** Time after which all objects are evaluated again, in milliseconds: after success and after a failure. */
const allMs = 3_600_000;
const retryMs = 60_000;
const groups: readonly ReportGroup[] = ['openreports.io', 'wgpolicyk8s.io'];

/**
 * Evaluates the validating plugins on all stored objects, and afterwards on changed ones; on all again if a policy, or what policies depend
 * on, changed, and once an hour, for exceptions that expire. It keeps a report about each object with a result other than pass, if the
 * kinds of reports are served.
 */
@Controller({
  name: 'policy-scan-controller',
  userAgent: 'kubenest-policy-scan',
  rules: [
    {
      apiGroups: [...groups],
      resources: ['reports', 'clusterreports', 'policyreports', 'clusterpolicyreports'],
      verbs: ['list', 'create', 'patch', 'delete'],
    },
  ],
})
export class PolicyScanController {
  readonly #metrics: PolicyScanMetrics;
  #reports: PolicyReports | undefined;
  /** State of the last scan of all objects. */
  #last: { readonly inputs: string; readonly progress: ScanProgress } | undefined;
  /** Time of the next scan of all objects, unless one is needed before. */
  #nextMs = 0;
  /** Objects with a result other than pass, by uid. */
  #violating = new Map<string, ScannedObject>();
  #hasWarned = false;

  constructor(
    @inject(PolicyScan) private readonly scan: PolicyScan,
    @inject(ControllerClient) private readonly client: ControllerClient,
    @inject(Clock) private readonly clock: Clock,
    @inject(Logger) private readonly logger: Logger,
    @inject(Metrics) metrics: Metrics,
  ) {
    this.#metrics = new PolicyScanMetrics(metrics);
  }

  async run(signal: AbortSignal): Promise<void> {
    await repeat(this.clock, changesMs, signal, async () => {
      try {
        await this.look(signal);
      } catch (error) {
        this.#last = undefined;
        this.#retry(error as Error, signal);
      }
    });
    // Another server has the metrics from now on.
    this.#metrics.show([]);
  }

  /** Evaluates what changed since the last call. */
  async look(signal: AbortSignal): Promise<void> {
    const isDue = this.clock.wallTime() >= this.#nextMs;
    const inputs = this.scan.inputs();
    if (isDue || (this.#last && this.#last.inputs !== inputs)) await this.#scanAll(inputs, signal);
    else if (this.#last) await this.#scanChanges(this.#last.progress, signal);
    this.#metrics.show([...this.#violating.values()].flatMap(({ verdicts }) => verdicts.filter(({ result }) => result !== 'pass')));
    const [failed] = this.#reports?.failures.splice(0) ?? [];
    if (failed) this.#retry(failed.error, signal);
  }

  /** Logs a failure, and evaluates all objects again after a while. */
  #retry({ message }: Error, signal: AbortSignal): void {
    this.#nextMs = this.clock.wallTime() + retryMs;
    if (!signal.aborted) this.logger.error({ reason: message }, 'the policy scan failed in part or as a whole; it is repeated in a minute');
  }

  async #scanAll(inputs: string, signal: AbortSignal): Promise<void> {
    this.#last = undefined;
    this.#violating.clear();
    this.#reports = await this.#openReports();
    const began = this.clock.now();
    const progress: ScanProgress = new Map();
    await this.#evaluate(progress, signal);
    if (signal.aborted) return;
    await this.#reports?.removeStale();
    this.#metrics.tookMs(this.clock.now() - began);
    this.#nextMs = this.clock.wallTime() + allMs;
    this.#last = { inputs, progress };
  }

  async #scanChanges(progress: ScanProgress, signal: AbortSignal): Promise<void> {
    for (const [uid, scanned] of this.#violating) {
      if (this.scan.isStored(scanned)) continue;
      this.#violating.delete(uid);
      await this.#reports?.update(scanned.object, []);
    }
    await this.#evaluate(progress, signal);
  }

  async #evaluate(progress: ScanProgress, signal: AbortSignal): Promise<void> {
    for await (const scanned of this.scan.objects(progress, signal)) {
      const { object, verdicts } = scanned;
      this.#metrics.scanned(1);
      const uid = object.metadata.uid ?? '';
      if (verdicts.some(({ result }) => result !== 'pass')) this.#violating.set(uid, scanned);
      else this.#violating.delete(uid);
      await this.#reports?.update(object, verdicts);
    }
  }

  /** Opens the reports of the first group that is served; undefined if none is. */
  async #openReports(): Promise<PolicyReports | undefined> {
    for (const group of groups) {
      const reports = new PolicyReports(group, this.client, () => new Date(this.clock.wallTime()));
      try {
        await reports.begin();
        return reports;
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    }
    if (!this.#hasWarned)
      this.logger.warn(
        { groups },
        'the policy scan writes no reports: no kind of reports is served (`kubenest audit crds` prints their definitions)',
      );
    this.#hasWarned = true;
    return undefined;
  }
}
