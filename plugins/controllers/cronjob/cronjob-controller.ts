import {
  aborted,
  Clock,
  Controller,
  ControllerClient,
  EventRecorder,
  inject,
  isConflict,
  parseSchedule,
  type ReconcileRequest,
  type ReconcileResult,
  RequestQueue,
  type ScheduleTimes,
  type SharedInformer,
  SharedInformers,
} from 'kubenest/sdk';
import type { CronJob, Job } from 'kubenest/types/batch_v1';
import { asManager } from '../common/as-manager.ts';
import { ControlledObjects } from '../common/pods.ts';
import { CronJobSync, cronJobs, jobs } from './cronjob-sync.ts';
import { nextScheduleInMs } from './missed-schedules.ts';

/** Starts the Jobs of CronJobs. Upstream: pkg/controller/cronjob. */
@Controller<CronJob>({
  name: 'cronjob-controller',
  for: cronJobs,
  filter: (cronJob, old) => old === undefined || !hasNewSchedule(cronJob, old),
  owns: [jobs],
  concurrency: 5,
  ...asManager,
})
export class CronJobController {
  readonly #cronJobs: SharedInformer<CronJob>;
  readonly #jobs: ControlledObjects<Job>;

  constructor(
    @inject(ControllerClient) private readonly client: ControllerClient,
    @inject(SharedInformers) informers: SharedInformers,
    @inject(EventRecorder) private readonly recorder: EventRecorder,
    @inject(Clock) private readonly clock: Clock,
    @inject(RequestQueue) private readonly requests: RequestQueue,
  ) {
    this.#cronJobs = informers.for<CronJob>(cronJobs);
    this.#jobs = new ControlledObjects(informers.for<Job>(jobs));
  }

  async run(signal: AbortSignal): Promise<void> {
    using _subscription = this.#cronJobs.handle({ updated: (cronJob, old) => this.#changed(cronJob, old) });
    await aborted(signal);
  }

  /**
   * A new schedule alone starts no job for times in the past: the CronJob waits for the first time in the future. Upstream: updateCronJob.
   */
  #changed(cronJob: CronJob, old: CronJob): void {
    if (!hasNewSchedule(cronJob, old)) return;
    const { namespace = '', name = '' } = cronJob.metadata;
    const { schedule = '', timeZone } = cronJob.spec ?? {};
    const nowMs = this.clock.wallTime();
    let times: ScheduleTimes;
    try {
      times = parseSchedule(schedule, timeZone);
    } catch {
      // Nothing is due before the next change.
      return;
    }
    this.requests.addAfter({ namespace, name }, nextScheduleInMs(cronJob, times, nowMs));
  }

  async reconcile({ namespace, name }: ReconcileRequest): Promise<ReconcileResult> {
    const cronJob = this.#cronJobs.get(namespace, name);
    if (!cronJob) return {};
    const sync = new CronJobSync(this.client, this.recorder, cronJob, this.#jobs.of(cronJob), this.clock.wallTime());
    await sync.cleanUp();
    try {
      const requeueAfterMs = await this.#runAndWrite(sync);
      return requeueAfterMs === undefined ? {} : { requeueAfterMs };
    } catch (error) {
      // The informer does not have the newest state yet.
      if (isConflict(error)) return { requeue: true };
      throw error;
    }
  }

  /** The status is written also after a failure. */
  async #runAndWrite(sync: CronJobSync): Promise<number | undefined> {
    try {
      return await sync.run();
    } finally {
      if (sync.isChanged) await this.client.replace({ ...cronJobs, subresource: 'status' }, { ...sync.cronJob, status: sync.status });
    }
  }
}

function hasNewSchedule({ spec }: CronJob, old: CronJob): boolean {
  return spec?.schedule !== old.spec?.schedule || spec?.timeZone !== old.spec?.timeZone;
}
