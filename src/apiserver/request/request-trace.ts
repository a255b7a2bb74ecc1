import type { JsonPatchOperation } from '#apimachinery/patch/create-patch';
import { deepEqual } from '#apimachinery/runtime/equality';
import type { Exchange } from './exchange.ts';
import type { RequestInfo } from './request-info.ts';
import type { UserInfo } from './user-info.ts';

/** A detail of a step, such as a webhook call or a deciding expression. */
export interface TraceNote {
  /** `webhook`, `policy`, or a kind defined by the plugin. */
  readonly kind: string;
  readonly name: string;
  readonly milliseconds?: number;
  /** A single word such as `allowed`, `denied` or `false`. */
  readonly verdict?: string;
  readonly reason?: string;
  /** Further explanations as JSON. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** The trace interface of plugins, for traced requests. */
export interface AdmissionTrace {
  /** Adds a note to the current step. */
  note(note: TraceNote): void;
}

/** The stages of a request; a reconcile of a controller has triggers and requests. */
export type TraceStage = 'authentication' | 'authorization' | 'admit' | 'validate' | 'trigger' | 'request';

/** A call of an authenticator, authorizer or admission plugin. */
export interface TraceStep {
  readonly stage: TraceStage;
  readonly name: string;
  readonly milliseconds: number;
  /**
   * Verdict of the step:
   *
   * | stage          | verdicts                                            |
   * | -------------- | --------------------------------------------------- |
   * | authentication | `knows the user`, `no opinion`, `wrong credentials` |
   * | authorization  | `Allow`, `Deny`, `NoOpinion`, `failed`              |
   * | admit          | `admitted`, `changed`, `denied`, `failed`           |
   * | validate       | `admitted`, `denied`, `failed`                      |
   * | trigger        | `queued`                                            |
   * | request        | the HTTP status                                     |
   */
  readonly verdict: string;
  readonly reason?: string;
  /** Its changes of the object. */
  readonly patch?: readonly JsonPatchOperation[];
  readonly notes?: readonly TraceNote[];
}

/** A trace in its published form. */
export interface TraceDocument {
  /** The Audit-Id of the request. */
  readonly id: string;
  /** RFC 3339 time. */
  readonly receivedAt: string;
  readonly milliseconds: number;
  readonly method: string;
  readonly url: string;
  readonly user: Pick<UserInfo, 'name' | 'groups'> | null;
  readonly impersonator: Pick<UserInfo, 'name' | 'groups'> | null;
  /** HTTP status of the response; 0 before the response. */
  readonly status: number;
  readonly message: string;
  readonly warnings: readonly string[];
  readonly steps: readonly TraceStep[];
}

/** The parts of a RequestContext that its trace publishes. */
interface TracedRequest {
  readonly exchange: Exchange;
  readonly method: string;
  readonly info: RequestInfo;
  readonly auditId: string;
  readonly user: UserInfo | undefined;
  readonly impersonator: UserInfo | undefined;
  readonly status: number;
  readonly warnings: readonly string[] | undefined;
}

/** The decisions about a request in the order of their evaluation. */
export class RequestTrace implements AdmissionTrace {
  readonly #steps: TraceStep[] = [];
  readonly #receivedAt = new Date();
  readonly #began = performance.now();
  #notes: TraceNote[] = [];
  #message = '';
  #context: TracedRequest | undefined;
  #closed: TraceDocument | undefined;

  /** `isKept` is true if the trace is kept for every user; otherwise it is kept only for users who may read traces. */
  constructor(
    context: TracedRequest,
    public isKept: boolean,
    onClose: (trace: TraceDocument) => void = () => {},
  ) {
    this.#context = context;
    context.exchange.onClose(() => {
      this.#closed = this.document();
      this.#context = undefined;
      if (this.isKept) onClose(this.#closed);
    });
  }

  note(note: TraceNote): void {
    const { details: _, ...withoutDetails } = note;
    const recorded = this.#context && isSecret(this.#context.info.apiGroup, this.#context.info.resource) ? withoutDetails : note;
    // An evaluation that yielded restarts and repeats its notes.
    if (!this.#notes.some((known) => deepEqual(known, recorded))) this.#notes.push(recorded);
  }

  /** Adds a step with the notes since the previous one. */
  add(step: TraceStep): void {
    const notes = this.#notes;
    this.#notes = [];
    this.#steps.push(notes.length > 0 ? { ...step, notes } : step);
  }

  /** Records the error message that the client gets. */
  failed(message: string): void {
    this.#message = message;
  }

  /** Returns the trace so far. */
  document(): TraceDocument {
    if (this.#closed) return this.#closed;
    const context = this.#context as TracedRequest;
    return {
      id: context.auditId,
      receivedAt: this.#receivedAt.toISOString(),
      milliseconds: rounded(performance.now() - this.#began),
      method: context.method,
      url: context.exchange.url,
      user: shown(context.user),
      impersonator: shown(context.impersonator),
      status: context.status,
      message: this.#message,
      warnings: context.warnings ?? [],
      steps: this.#steps,
    };
  }
}

/** True if the resource's objects are secrets, whose content traces must not reveal. */
export function isSecret(group: string, resource: string): boolean {
  return group === '' && resource === 'secrets';
}

/** Rounds milliseconds to three digits. */
export function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 1_000) / 1_000;
}

function shown(user: UserInfo | undefined): TraceDocument['user'] {
  return user ? { name: user.name, groups: user.groups } : null;
}
