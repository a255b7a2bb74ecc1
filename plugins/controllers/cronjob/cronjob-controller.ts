import {
  aborted,
  Clock,
  Controller,
  ControllerClient,
  EventRecorder,
  inject,
  isConflict,
  type KubeObject,
  type ReconcileRequest,
  type ReconcileResult,
  type SharedInformer,
  SharedInformers,
} from 'kubenest/sdk';
import type { CronJob, Job } from 'kubenest/types/batch_v1';
import { asManager } from '../common/as-manager.ts';
import { ControlledObjects } from '../common/pods.ts';
import { CronJobSync, cronJobs, jobs } from './cronjob-sync.ts';
import { nextScheduleInMs } from './missed-schedules.ts';
import { parseSchedule } from 'kubenest/sdk';

/** Starts the Jobs of CronJobs. Upstream: pkg/controller/cronjob. */
@Controller({
  name: 'cronjob-controller',
  for: cronJobs,
  owns: [jobs],
  concurrency: 5,
  ...asManager,
})
export class CronJobController {
  readonly #cronJobs: SharedInformer<CronJob>;
  readonly #jobs: ControlledObjects<Job>;
  /** Schedules with their time zones, by the UIDs of the CronJobs. */
  readonly #schedules = new Map<string, string>();

  constructor(
    @inject(ControllerClient) private readonly client: ControllerClient,
    @inject(SharedInformers) informers: SharedInformers,
    @inject(EventRecorder) private readonly recorder: EventRecorder,
    @inject(Clock) private readonly clock: Clock,
  ) {
    this.#cronJobs = informers.for<CronJob>(cronJobs);
    this.#jobs = new ControlledObjects(informers.for<Job>(jobs));
  }

  async run(signal: AbortSignal): Promise<void> {
    const forget = ({ metadata }: KubeObject): void => void this.#schedules.delete(metadata.uid as string);
    using _subscription = this.#cronJobs.handle({ deleted: forget });
    await aborted(signal);
  }

  async reconcile({ namespace, name }: ReconcileRequest): Promise<ReconcileResult> {
    const cronJob = this.#cronJobs.get(namespace, name);
    if (!cronJob) return {};
    const nowMs = this.clock.wallTime();
    const waitMs = this.#waitOfNewSchedule(cronJob, nowMs);
    if (waitMs !== undefined) return { requeueAfterMs: waitMs };
    const sync = new CronJobSync(this.client, this.recorder, cronJob, this.#jobs.of(cronJob), nowMs);
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

  /** Returns the time until the first job of a changed schedule, which starts no job for times in the past. */
  #waitOfNewSchedule(cronJob: CronJob, nowMs: number): number | undefined {
    const { schedule = '', timeZone } = cronJob.spec ?? {};
    const uid = cronJob.metadata.uid as string;
    const text = `${timeZone ?? ''} ${schedule}`;
    const before = this.#schedules.get(uid);
    this.#schedules.set(uid, text);
    if (before === undefined || before === text) return undefined;
    try {
      return nextScheduleInMs(cronJob, parseSchedule(schedule, timeZone), nowMs);
    } catch {
      // The reconcile reports an invalid schedule.
      return undefined;
    }
  }
}
