import { type Clock, type ControllerClient, type EventRecorder, isNotFound, type Logger } from 'kubenest/sdk';
import type { Pod } from 'kubenest/types/core_v1';
import type { LifeOutcome, LifeStep, PodHost } from './pod-life.ts';

const pods = { group: '', version: 'v1', resource: 'pods' } as const;
const retryMs = 1_000;
/** Number of writes in progress; further ones wait. */
const maxWrites = 64;

/** A pod with pending steps. */
interface LivingPod {
  pod: Pod;
  /** Cancels the timer of the next step. */
  cancel: (() => void) | undefined;
  /** True while a write is waiting or in progress. Newer versions of the pod are processed after it. */
  isWriting: boolean;
}

/** Returns the node of a pod; undefined if it is not simulated. */
export type HostLookup = (pod: Pod) => PodHost | undefined;

/** Returns the next step of a pod's life. */
export type NextStep = (pod: Pod, host: PodHost) => LifeStep | undefined;

/**
 * Simulates the life cycle of pods: waits until the next step is due, writes its outcome, and continues with the pod that the server
 * returns.
 */
export class PodRunner {
  readonly #living = new Map<string, LivingPod>();
  readonly #waiting: (() => void)[] = [];
  /** UIDs of the pods whose next step is to be determined again. */
  readonly #replans = new Set<string>();
  #writes = 0;

  /** `recorder` is undefined if pods have no events. */
  constructor(
    private readonly client: ControllerClient,
    private readonly recorder: EventRecorder | undefined,
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly hostOf: HostLookup,
    private readonly nextStep: NextStep,
    private readonly onOutcome: (pod: Pod, outcome: LifeOutcome) => void,
  ) {}

  /** Takes over a new version of a pod; older ones are ignored. */
  set(pod: Pod): void {
    const uid = pod.metadata.uid ?? '';
    const living = this.#living.get(uid);
    if (living && versionOf(living.pod) >= versionOf(pod)) return;
    if (!this.hostOf(pod)) return this.delete(uid);
    const next = living ?? { pod, cancel: undefined, isWriting: false };
    next.pod = pod;
    this.#living.set(uid, next);
    if (!next.isWriting) this.#plan(next);
  }

  delete(uid: string): void {
    this.#living.get(uid)?.cancel?.();
    this.#living.delete(uid);
  }

  /** Determines the next step of each pod again, because its inputs have changed. */
  replan(): void {
    for (const living of this.#living.values()) if (!living.isWriting) this.#plan(living);
  }

  /** Determines the next step of a pod again soon: one pod in each turn of the event loop, since many may share a volume. */
  replanPod(uid: string): void {
    if (this.#replans.size === 0) setImmediate(() => this.#replanNext());
    this.#replans.add(uid);
  }

  #replanNext(): void {
    const [uid] = this.#replans;
    if (uid === undefined) return;
    this.#replans.delete(uid);
    if (this.#replans.size > 0) setImmediate(() => this.#replanNext());
    const living = this.#living.get(uid);
    if (living && !living.isWriting) this.#plan(living);
  }

  /** Ends all lives, without a write. */
  stop(): void {
    for (const { cancel } of this.#living.values()) cancel?.();
    this.#living.clear();
    this.#replans.clear();
    this.#waiting.length = 0;
  }

  #isLiving(living: LivingPod): boolean {
    return this.#living.get(living.pod.metadata.uid ?? '') === living;
  }

  #plan(living: LivingPod): void {
    living.cancel?.();
    living.cancel = undefined;
    const step = this.#nextStep(living.pod);
    if (!step) return;
    const delay = step.at - this.clock.wallTime();
    if (delay <= 0) return this.#enqueue(living);
    // Timers of Node cannot be longer; the step is planned again then.
    living.cancel = this.clock.after(Math.min(delay, 2 ** 31 - 1), () => this.#plan(living));
  }

  /** A pod without a next step waits for its next version, also if the simulation fails for it. */
  #nextStep(pod: Pod): LifeStep | undefined {
    const host = this.hostOf(pod);
    try {
      return host && this.nextStep(pod, host);
    } catch (error) {
      const { namespace, name } = pod.metadata;
      this.logger.error({ pod: `${namespace}/${name}`, reason: (error as Error).message }, 'cannot simulate a pod');
      return undefined;
    }
  }

  #enqueue(living: LivingPod): void {
    living.isWriting = true;
    if (this.#writes >= maxWrites) this.#waiting.push(() => void this.#step(living));
    else void this.#step(living);
  }

  async #step(living: LivingPod): Promise<void> {
    this.#writes += 1;
    try {
      await this.#play(living);
      living.isWriting = false;
      if (this.#isLiving(living)) this.#plan(living);
    } catch (error) {
      this.#failed(living, error);
    } finally {
      this.#writes -= 1;
      this.#waiting.shift()?.();
    }
  }

  /** Runs the next step of the newest version of the pod, if it is due. */
  async #play(living: LivingPod): Promise<void> {
    const { pod } = living;
    const step = this.#isLiving(living) ? this.#nextStep(pod) : undefined;
    const now = this.clock.wallTime();
    if (!step || step.at > now) return;
    const outcome = step.run(now);
    const { namespace = '', name = '', uid } = pod.metadata;
    for (const { subresource, patch } of writesOf(outcome, uid)) {
      const written = await this.client.patch<Pod>({ ...pods, ...(subresource && { subresource }) }, namespace, name, patch);
      if (versionOf(written) > versionOf(living.pod)) living.pod = written;
    }
    this.onOutcome(pod, outcome);
    for (const { type, reason, message, fieldPath } of outcome.events)
      this.recorder?.event(pod, type, reason, message, { ...(fieldPath !== undefined && { fieldPath }), host: pod.spec?.nodeName ?? '' });
    if (!outcome.deletes) return;
    await this.client.remove(pods, namespace, name, { gracePeriodSeconds: 0, preconditions: { uid } });
    this.delete(uid ?? '');
  }

  /** A pod that is gone needs nothing; after another failure the step is tried again. */
  #failed(living: LivingPod, error: unknown): void {
    living.isWriting = false;
    if (isNotFound(error) || !this.#isLiving(living)) return;
    const { namespace, name } = living.pod.metadata;
    this.logger.warn({ pod: `${namespace}/${name}`, reason: (error as Error).message }, 'cannot write the state of a simulated pod');
    living.cancel = this.clock.after(retryMs, () => this.#plan(living));
  }
}

function writesOf({ status, patches = [] }: LifeOutcome, uid: string | undefined): NonNullable<LifeOutcome['patches']> {
  if (!status) return patches;
  return [{ subresource: 'status', patch: { type: 'strategic', patch: { metadata: { uid }, status } } }, ...patches];
}

const versionOf = ({ metadata }: Pod): bigint => BigInt(metadata.resourceVersion || '0');
