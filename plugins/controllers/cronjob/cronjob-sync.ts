import {
  type ControllerClient,
  deepCopy,
  type EventRecorder,
  formatTime,
  isAlreadyExists,
  isControlledBy,
  newControllerReference,
  parseTime,
} from 'kubenest/sdk';
import type { CronJob, CronJobStatus, Job } from 'kubenest/types/batch_v1';
import { InvalidSchedule, missedSchedules, nextScheduleInMs } from './missed-schedules.ts';
import { isNamespaceTerminating } from '../common/namespace-terminating.ts';
import { parseSchedule, type ScheduleTimes } from 'kubenest/sdk';
import { Zone } from '#sdk/internal';

export const cronJobs = { group: 'batch', version: 'v1', resource: 'cronjobs', kind: 'CronJob' } as const;
export const jobs = { group: 'batch', version: 'v1', resource: 'jobs', kind: 'Job' } as const;

/** Returns the type of the condition that ended a job; undefined while it runs. */
export function endOf({ status }: Job): string | undefined {
  return status?.conditions?.find(({ type, status: state }) => (type === 'Complete' || type === 'Failed') && state === 'True')?.type;
}

/** Returns the jobs beyond the limit, those that started first. */
export function surplusJobs(ended: readonly Job[], limit: number): Job[] {
  const start = ({ status }: Job): string => status?.startTime ?? '9999';
  const sorted = ended.toSorted(
    (a, b) => start(a).localeCompare(start(b)) || (a.metadata.name as string).localeCompare(b.metadata.name as string),
  );
  return sorted.slice(0, Math.max(0, ended.length - limit));
}

/** Returns the job for a time. Its name contains the time, so that it is created once. Upstream: getJobFromTemplate2. */
export function jobFor(cronJob: CronJob, scheduledMs: number): Job {
  const { metadata: own, spec } = cronJob;
  const { metadata = {}, spec: jobSpec = {} } = spec?.jobTemplate ?? {};
  const scheduled = new Zone(spec?.timeZone ?? 'UTC').format(scheduledMs);
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: `${own.name}-${Math.floor(scheduledMs / 60_000)}`,
      namespace: own.namespace as string,
      ...(metadata.labels && { labels: metadata.labels }),
      annotations: { ...metadata.annotations, 'batch.kubernetes.io/cronjob-scheduled-timestamp': scheduled },
      ownerReferences: [newControllerReference(cronJob, cronJobs)],
    },
    spec: deepCopy(jobSpec),
  };
}

/** Formats a time like Go's RFC1123Z, in UTC. */
function formatRfc1123(ms: number): string {
  return new Date(ms).toUTCString().replace('GMT', '+0000');
}

/** One reconcile of a CronJob: it starts at most one job. Upstream: syncCronJob of pkg/controller/cronjob. */
export class CronJobSync {
  readonly status: CronJobStatus;
  isChanged = false;

  constructor(
    readonly client: ControllerClient,
    readonly recorder: EventRecorder,
    readonly cronJob: CronJob,
    readonly jobs: readonly Job[],
    readonly nowMs: number,
  ) {
    this.status = deepCopy(cronJob.status ?? {});
  }

  /** Deletes the jobs that the history limits do not keep. */
  async cleanUp(): Promise<void> {
    const { successfulJobsHistoryLimit, failedJobsHistoryLimit } = this.cronJob.spec ?? {};
    const limits = { Complete: successfulJobsHistoryLimit, Failed: failedJobsHistoryLimit };
    for (const [type, limit] of Object.entries(limits)) {
      if (limit === undefined) continue;
      for (const job of surplusJobs(
        this.jobs.filter((job) => endOf(job) === type),
        limit,
      ))
        await this.#deleteJob(job);
    }
  }

  /** Updates the list of active jobs and starts a job that is due. Returns the time until the next one, in milliseconds. */
  async run(): Promise<number | undefined> {
    await this.#updateActive();
    const { metadata, spec } = this.cronJob;
    if (metadata.deletionTimestamp || spec?.suspend) return undefined;
    const schedule = this.#schedule();
    if (!schedule) return undefined;
    try {
      const { recentMs, missed } = missedSchedules({ ...this.cronJob, status: this.status }, schedule, this.nowMs, true);
      if (recentMs === undefined) return this.#next(schedule);
      if (missed === 'many') {
        const message = 'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew';
        this.#event('Warning', 'TooManyMissedTimes', message);
      }
      return (await this.#mayStart(recentMs)) ? await this.#start(recentMs, schedule) : this.#next(schedule);
    } catch (error) {
      if (!(error instanceof InvalidSchedule)) throw error;
      this.#event('Warning', 'InvalidSchedule', `invalid schedule: ${spec?.schedule} : ${error.message}`);
      return undefined;
    }
  }

  #event(type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.recorder.event(this.cronJob, type, reason, message);
  }

  #next(schedule: ScheduleTimes): number {
    return nextScheduleInMs({ ...this.cronJob, status: this.status }, schedule, this.nowMs);
  }

  #schedule(): ScheduleTimes | undefined {
    const { schedule = '', timeZone } = this.cronJob.spec ?? {};
    if (schedule.includes('TZ')) {
      const hint = 'see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details';
      this.#event('Warning', 'UnsupportedSchedule', `CRON_TZ or TZ used in schedule "${schedule}" is not officially supported, ${hint}`);
    }
    if (!isZone(timeZone)) {
      this.#event('Warning', 'UnknownTimeZone', `invalid timeZone: "${timeZone}": unknown time zone ${timeZone}`);
      return undefined;
    }
    try {
      return parseSchedule(schedule, timeZone);
    } catch (error) {
      this.#event('Warning', 'UnparseableSchedule', `unparseable schedule: "${schedule}" : ${(error as Error).message}`);
      return undefined;
    }
  }

  async #updateActive(): Promise<void> {
    for (const job of this.jobs) {
      const { uid, name } = job.metadata;
      const end = endOf(job);
      const isListed = this.#isActive(uid as string);
      if (!isListed && !end) {
        if (await this.#isListedNow(uid as string)) continue;
        this.#event('Warning', 'UnexpectedJob', `Saw a job that the controller did not create or forgot: ${name}`);
      }
      if (isListed && end) {
        this.#removeActive(uid as string);
        this.#event('Normal', 'SawCompletedJob', `Saw completed job: ${name}, condition: ${end}`);
      }
      if (end === 'Complete') this.#noteSuccess(job);
    }
    const known = new Set(this.jobs.map(({ metadata }) => metadata.uid));
    for (const { uid, namespace = '', name = '' } of this.status.active ?? []) {
      if (known.has(uid) || (await this.client.get(jobs, namespace, name))) continue;
      this.#event('Normal', 'MissingJob', `Active job went missing: ${name}`);
      this.#removeActive(uid as string);
    }
  }

  #isActive(uid: string): boolean {
    return this.status.active?.some((job) => job.uid === uid) ?? false;
  }

  /** True if the stored CronJob lists the job, which the informer may not know yet. */
  async #isListedNow(uid: string): Promise<boolean> {
    const { namespace = '', name = '' } = this.cronJob.metadata;
    const stored = await this.client.get<CronJob>(cronJobs, namespace, name);
    return stored?.status?.active?.some((job) => job.uid === uid) ?? false;
  }

  #removeActive(uid: string): void {
    const left = this.status.active?.filter((job) => job.uid !== uid) ?? [];
    if (left.length > 0) this.status.active = left;
    else delete this.status.active;
    this.isChanged = true;
  }

  #noteSuccess({ status }: Job): void {
    const completed = status?.completionTime;
    const last = this.status.lastSuccessfulTime;
    if (!completed || (last && parseTime(completed) <= parseTime(last))) return;
    this.status.lastSuccessfulTime = completed;
    this.isChanged = true;
  }

  /** True if the job of the time shall be started now. */
  async #mayStart(scheduledMs: number): Promise<boolean> {
    const { startingDeadlineSeconds, concurrencyPolicy } = this.cronJob.spec ?? {};
    if (startingDeadlineSeconds !== undefined && scheduledMs + Number(startingDeadlineSeconds) * 1_000 < this.nowMs) {
      this.#event('Warning', 'MissSchedule', `Missed scheduled time to start a job: ${formatRfc1123(scheduledMs)}`);
      return false;
    }
    const { name } = jobFor(this.cronJob, scheduledMs).metadata;
    const last = this.status.lastScheduleTime;
    const isStarted = this.status.active?.some((job) => job.name === name) || (last && parseTime(last) === scheduledMs);
    if (isStarted) return false;
    if (concurrencyPolicy === 'Forbid' && this.status.active?.length) {
      const message = 'Not starting job because prior execution is running and concurrency policy is Forbid';
      this.#event('Normal', 'JobAlreadyActive', message);
      return false;
    }
    return true;
  }

  async #start(scheduledMs: number, schedule: ScheduleTimes): Promise<number | undefined> {
    if (this.cronJob.spec?.concurrencyPolicy === 'Replace') await this.#deleteActive();
    const job = await this.#create(jobFor(this.cronJob, scheduledMs));
    if (!job) return undefined;
    const { apiVersion, kind, metadata } = job;
    const { namespace, name, uid, resourceVersion } = metadata;
    const reference = { kind, namespace, name, uid, apiVersion, resourceVersion } as NonNullable<CronJobStatus['active']>[number];
    this.status.active = [...(this.status.active ?? []), reference];
    this.status.lastScheduleTime = formatTime(scheduledMs);
    this.isChanged = true;
    return this.#next(schedule);
  }

  async #deleteActive(): Promise<void> {
    for (const { namespace = '', name = '' } of this.status.active ?? []) {
      const job = await this.client.get<Job>(jobs, namespace, name);
      if (!job) {
        this.#event('Warning', 'FailedGet', `Get job: jobs.batch "${name}" not found`);
        throw new Error(`active job ${namespace}/${name} is gone`);
      }
      if (!(await this.#deleteJob(job))) throw new Error(`could not replace job ${namespace}/${name}`);
    }
  }

  /** Returns false if the deletion failed. */
  async #deleteJob({ metadata: { namespace = '', name = '', uid = '' } }: Job): Promise<boolean> {
    try {
      await this.client.remove(jobs, namespace, name, { propagationPolicy: 'Background' });
    } catch (error) {
      this.#event('Warning', 'FailedDelete', `Deleted job: ${(error as Error).message}`);
      return false;
    }
    this.#removeActive(uid);
    this.#event('Normal', 'SuccessfulDelete', `Deleted job ${name}`);
    return true;
  }

  /** Returns the created job, or one that an earlier attempt created and did not list; undefined if there is nothing to list. */
  async #create(job: Job): Promise<Job | undefined> {
    try {
      const created = await this.client.create<Job>(jobs, job);
      this.#event('Normal', 'SuccessfulCreate', `Created job ${created.metadata.name}`);
      return created;
    } catch (error) {
      if (!isAlreadyExists(error)) {
        if (!isNamespaceTerminating(error)) this.#event('Warning', 'FailedCreate', `Error creating job: ${(error as Error).message}`);
        throw error;
      }
      const present = await this.client.get<Job>(jobs, job.metadata.namespace as string, job.metadata.name as string);
      const isOurs = present !== undefined && isControlledBy(present, this.cronJob);
      return isOurs && !this.#isActive(present.metadata.uid as string) ? present : undefined;
    }
  }
}

function isZone(name: string | undefined): boolean {
  try {
    return new Zone(name) !== undefined;
  } catch {
    return false;
  }
}
