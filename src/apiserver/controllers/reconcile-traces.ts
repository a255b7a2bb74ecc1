import type { UserInfo } from '#apiserver/request/user-info';
import { ReconcileTrace } from '#apiserver/tracing/reconcile-trace';
import type { RequestTraces } from '#apiserver/tracing/request-traces';

/** Triggers that are recorded for one reconcile. */
const maxTriggers = 10;

/** Traces of the reconciles of one controller, among the kept traces of requests. */
export class ReconcileTraces {
  readonly #triggers = new Map<string, Set<string>>();

  /** `user`: the user as which the controller sends requests. */
  constructor(
    private readonly controller: string,
    private readonly user: UserInfo,
    private readonly kept: RequestTraces,
  ) {}

  /** Records that a change queued an object. */
  queued(key: string, trigger: string): void {
    if (this.kept.last === 0) return;
    const triggers = this.#triggers.get(key) ?? new Set();
    if (triggers.size < maxTriggers) triggers.add(trigger);
    this.#triggers.set(key, triggers);
  }

  /** Starts the trace of a reconcile; undefined if none are kept. */
  begin(key: string): ReconcileTrace | undefined {
    if (this.kept.last === 0) return undefined;
    const triggers = [...(this.#triggers.get(key) ?? [])];
    this.#triggers.delete(key);
    return new ReconcileTrace(this.controller, key, this.user, triggers);
  }

  /** Ends the trace, and keeps it if the reconcile did something. `message`: the error. */
  end(trace: ReconcileTrace, message?: string): void {
    trace.end(message);
    if (!trace.isOfInterest) return;
    this.kept.keep(trace);
    this.kept.onClose?.(trace.document());
  }
}
