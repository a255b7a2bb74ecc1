import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { TraceDocument, TraceStep } from '#apiserver/request/request-trace';
import type { UserInfo } from '#apiserver/request/user-info';

const current = new AsyncLocalStorage<ReconcileTrace>();

/** Returns the trace of the reconcile that does the current work; undefined outside a traced one. */
export function currentReconcile(): ReconcileTrace | undefined {
  return current.getStore();
}

/** One reconcile of a controller: its triggers, its requests, its outcome. */
export class ReconcileTrace {
  readonly #id = randomUUID();
  readonly #receivedAt = new Date();
  readonly #began = performance.now();
  readonly #requests: TraceStep[] = [];
  #milliseconds: number | undefined;
  #message = '';

  /** `object`: `namespace/name` of the reconciled object. `triggers`: changes that queued it, such as `MODIFIED pods ns/web-1`. */
  constructor(
    private readonly controller: string,
    private readonly object: string,
    private readonly user: UserInfo,
    private readonly triggers: readonly string[],
  ) {}

  /** True if the reconcile sent a request or failed; the others are not worth a place among the kept traces. */
  get isOfInterest(): boolean {
    return this.#requests.length > 0 || this.#message !== '';
  }

  run<T>(work: () => T): T {
    return current.run(this, work);
  }

  /** Records a request within the process. */
  requested(method: string, path: string, status: number, milliseconds: number): void {
    this.#requests.push({ stage: 'request', name: `${method} ${path}`, milliseconds: rounded(milliseconds), verdict: `${status}` });
  }

  end(message = ''): void {
    this.#milliseconds = performance.now() - this.#began;
    this.#message = message;
  }

  document(): TraceDocument {
    const triggers = this.triggers.map((name): TraceStep => ({ stage: 'trigger', name, milliseconds: 0, verdict: 'queued' }));
    return {
      id: this.#id,
      receivedAt: this.#receivedAt.toISOString(),
      milliseconds: rounded(this.#milliseconds ?? performance.now() - this.#began),
      method: 'RECONCILE',
      url: `${this.controller} ${this.object}`,
      user: { name: this.user.name, groups: this.user.groups },
      impersonator: null,
      status: this.#message ? 500 : this.#milliseconds === undefined ? 0 : 200,
      message: this.#message,
      warnings: [],
      steps: [...triggers, ...this.#requests],
    };
  }
}

function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 1_000) / 1_000;
}
