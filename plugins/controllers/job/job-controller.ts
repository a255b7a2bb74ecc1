import {
  Clock,
  Controller,
  ControllerClient,
  controllerOf,
  EventRecorder,
  Expectations,
  inject,
  isConflict,
  isControlledBy,
  type KubeObject,
  type ReconcileRequest,
  type ReconcileResult,
  type SharedInformer,
  SharedInformers,
  Watches,
} from 'kubenest/sdk';
import type { Job } from 'kubenest/types/batch_v1';
import type { Pod } from 'kubenest/types/core_v1';
import { asManager } from '../common/as-manager.ts';
import { claimObjects } from '../common/claim.ts';
import { observePods } from '../common/expected-pods.ts';
import { PodControl } from '../common/pod-control.ts';
import { ControlledObjects, pods } from '../common/pods.ts';
import { selectorOf } from '../../common/selectors.ts';
import { isFinished, isTracked, trackingFinalizer } from './job-pods.ts';
import { stateOf } from './job-state.ts';
import { JobSync, type JobSyncParts, jobs, removeFinalizer } from './job-sync.ts';

/** Delay after a conflict, which is not a failure. */
const conflictMs = 20;
const ownName = 'kubernetes.io/job-controller';
/** Start of the name in requests for pods that may have lost their job: `orphan/POD`. Names of jobs have no slash. */
const orphan = 'orphan/';

/** Runs the pods of Jobs to completion. Upstream: pkg/controller/job. */
@Controller({
  name: 'job-controller',
  for: jobs,
  owns: [pods],
  concurrency: 5,
  // A quota that is exceeded makes an event with each attempt. Upstream waits for a second first; a service account may be created
  // meanwhile.
  minBackoffMs: 200,
  maxBackoffMs: 60_000,
  ...asManager,
})
export class JobController {
  readonly #jobs: SharedInformer<Job>;
  readonly #pods: ControlledObjects;
  readonly #parts: JobSyncParts;

  constructor(
    @inject(ControllerClient) private readonly client: ControllerClient,
    @inject(SharedInformers) informers: SharedInformers,
    @inject(EventRecorder) recorder: EventRecorder,
    @inject(Clock) private readonly clock: Clock,
  ) {
    this.#jobs = informers.for<Job>(jobs);
    this.#pods = new ControlledObjects(informers.for<Pod>(pods));
    this.#parts = {
      client,
      recorder,
      control: new PodControl(client, recorder),
      expectations: new Expectations(clock),
      untracked: new Set(),
      ended: new Set(),
      backoff: new Map(),
    };
  }

  /** The pods of a job that has ended or is gone need no finalizer. */
  @Watches(jobs)
  *requestsOfJob(job: KubeObject): Iterable<ReconcileRequest> {
    if (this.#isRunning(job)) return;
    for (const pod of this.#pods.of(job)) if (isTracked(pod)) yield requestOfOrphan(pod);
  }

  /** Jobs may adopt a pod without a controller. */
  @Watches(pods)
  *requestsOfPod(pod: KubeObject): Iterable<ReconcileRequest> {
    const controller = controllerOf(pod);
    if (isTracked(pod) && this.#isLost(pod)) yield requestOfOrphan(pod);
    if (controller || pod.metadata.deletionTimestamp) return;
    for (const { metadata, spec } of this.#jobs.list(pod.metadata.namespace)) {
      const selector = selectorOf(spec?.selector);
      if (!selector.isEmpty() && selector.matches(pod.metadata.labels ?? {}))
        yield { namespace: metadata.namespace as string, name: metadata.name as string };
    }
  }

  async run(signal: AbortSignal): Promise<void> {
    const { untracked, ended, backoff, expectations } = this.#parts;
    const forget = ({ metadata }: KubeObject): void => {
      ended.delete(metadata.uid as string);
      backoff.delete(metadata.uid as string);
    };
    using _pods = this.#pods.informer.handle({
      updated: (pod) => void (isTracked(pod) || untracked.delete(pod.metadata.uid as string)),
      deleted: (pod) => void untracked.delete(pod.metadata.uid as string),
    });
    using _jobs = this.#jobs.handle({ updated: (job) => void (isFinished(job) && forget(job)), deleted: forget });
    await observePods(this.#pods.informer, this.#jobs as unknown as SharedInformer, expectations, signal);
  }

  async reconcile({ namespace, name }: ReconcileRequest): Promise<ReconcileResult> {
    if (name.startsWith(orphan)) return this.#releaseOrphan(namespace, name.slice(orphan.length));
    const job = this.#jobs.get(namespace, name);
    if (!job || isManagedElsewhere(job) || isFinished(job) || this.#parts.ended.has(job.metadata.uid as string)) return {};
    try {
      const requeueAfterMs = await this.#sync(job);
      return requeueAfterMs === undefined ? {} : { requeueAfterMs };
    } catch (error) {
      // The informers do not have the newest state yet.
      if (isConflict(error)) return { requeueAfterMs: conflictMs };
      throw error;
    }
  }

  async #sync(job: Job): Promise<number | undefined> {
    const { expectations, untracked, backoff } = this.#parts;
    const uid = job.metadata.uid as string;
    const isInformed = expectations.satisfied(uid);
    const claim = { client: this.client, ownerResource: jobs, target: pods, finalizers: [trackingFinalizer] };
    const candidates = [...this.#pods.of(job), ...this.#pods.orphans(job)];
    const claimed = await claimObjects(claim, job, selectorOf(job.spec?.selector), candidates);
    const nowMs = this.clock.wallTime();
    const state = stateOf({ job, pods: claimed, untracked: new Set(untracked), backoff: backoff.get(uid), nowMs });
    return new JobSync(this.#parts, state).run(isInformed);
  }

  #isRunning({ metadata }: KubeObject): boolean {
    const job = this.#jobs.get(metadata.namespace ?? '', metadata.name as string);
    return job !== undefined && job.metadata.uid === metadata.uid && !isFinished(job);
  }

  /** True if no job that runs controls the pod, nor another controller. */
  #isLost(pod: KubeObject): boolean {
    const controller = controllerOf(pod);
    if (!controller) return true;
    if (controller.kind !== jobs.kind || controller.apiVersion !== 'batch/v1') return false;
    const job = this.#jobs.get(pod.metadata.namespace ?? '', controller.name);
    return !job || !isControlledBy(pod, job) || (isFinished(job) && !isManagedElsewhere(job));
  }

  async #releaseOrphan(namespace: string, name: string): Promise<ReconcileResult> {
    const pod = this.#pods.informer.get(namespace, name);
    if (pod && isTracked(pod) && this.#isLost(pod)) await removeFinalizer(this.#parts, pod);
    return {};
  }
}

function isManagedElsewhere({ spec }: Job): boolean {
  return spec?.managedBy !== undefined && spec.managedBy !== ownName;
}

function requestOfOrphan({ metadata }: KubeObject): ReconcileRequest {
  return { namespace: metadata.namespace as string, name: `${orphan}${metadata.name}` };
}
