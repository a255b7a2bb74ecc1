import {
  Clock,
  Controller,
  ControllerClient,
  inject,
  isConflict,
  parseTime,
  type ReconcileRequest,
  type ReconcileResult,
  type SharedInformer,
  SharedInformers,
} from 'kubenest/sdk';
import type { Job } from 'kubenest/types/batch_v1';
import { asManager } from '../common/as-manager.ts';

const jobs = { group: 'batch', version: 'v1', resource: 'jobs', kind: 'Job' } as const;

/**
 * Returns the time until a job that has ended is to be deleted, in milliseconds; undefined if it has no such time, has not ended, or is
 * being deleted.
 */
export function timeLeftMs({ metadata, spec, status }: Job, nowMs: number): number | undefined {
  const ttl = spec?.ttlSecondsAfterFinished;
  if (ttl === undefined || metadata.deletionTimestamp) return undefined;
  const end = status?.conditions?.find(({ type, status: state }) => (type === 'Complete' || type === 'Failed') && state === 'True');
  if (!end?.lastTransitionTime) return undefined;
  return parseTime(end.lastTransitionTime) + ttl * 1_000 - nowMs;
}

/** Deletes Jobs some time after their end. Upstream: pkg/controller/ttlafterfinished. */
@Controller({
  name: 'ttl-after-finished-controller',
  for: jobs,
  concurrency: 5,
  ...asManager,
})
export class TtlAfterFinishedController {
  readonly #jobs: SharedInformer<Job>;

  constructor(
    @inject(ControllerClient) private readonly client: ControllerClient,
    @inject(SharedInformers) informers: SharedInformers,
    @inject(Clock) private readonly clock: Clock,
  ) {
    this.#jobs = informers.for<Job>(jobs);
  }

  async reconcile({ namespace, name }: ReconcileRequest): Promise<ReconcileResult> {
    const known = this.#jobs.get(namespace, name);
    if (!known || (timeLeftMs(known, this.clock.wallTime()) ?? 1) > 0) return this.#later(known);
    // The time may have been extended meanwhile.
    const job = await this.client.get<Job>(jobs, namespace, name);
    if (!job || (timeLeftMs(job, this.clock.wallTime()) ?? 1) > 0) return this.#later(job);
    try {
      await this.client.remove(jobs, namespace, name, { propagationPolicy: 'Foreground', preconditions: { uid: job.metadata.uid } });
      return {};
    } catch (error) {
      if (isConflict(error)) return { requeue: true };
      throw error;
    }
  }

  #later(job: Job | undefined): ReconcileResult {
    const requeueAfterMs = job && timeLeftMs(job, this.clock.wallTime());
    return requeueAfterMs === undefined ? {} : { requeueAfterMs };
  }
}
