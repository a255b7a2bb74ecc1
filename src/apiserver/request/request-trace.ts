import type { JsonPatchOperation } from '#apimachinery/patch/create-patch';
import { deepEqual } from '#apimachinery/runtime/equality';
import type { Exchange } from './exchange.ts';
import type { RequestInfo } from './request-info.ts';
import type { UserInfo } from './user-info.ts';

/** What a step did besides its verdict: a webhook that it called, an expression that decided. */
export interface TraceNote {
  /** `webhook`, `policy`, or a word of the plugin's own. */
  readonly kind: string;
  readonly name: string;
  readonly milliseconds?: number;
  /** In a word: `allowed`, `denied`, `false`. */
  readonly verdict?: string;
  readonly reason?: string;
  /** Whatever else explains it, as JSON has it. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** What a plugin may tell of a request that is traced. */
export interface AdmissionTrace {
  /** Adds to the step that runs. */
  note(note: TraceNote): void;
}

export type TraceStage = 'authentication' | 'authorization' | 'admit' | 'validate';

/** One authenticator, authorizer or admission plugin that was asked. */
export interface TraceStep {
  readonly stage: TraceStage;
  readonly name: string;
  readonly milliseconds: number;
  /**
   * | stage          | verdicts                                            |
   * | -------------- | --------------------------------------------------- |
   * | authentication | `knows the user`, `no opinion`, `wrong credentials` |
   * | authorization  | `Allow`, `Deny`, `NoOpinion`, `failed`              |
   * | admit          | `admitted`, `changed`, `denied`, `failed`           |
   * | validate       | `admitted`, `denied`, `failed`                      |
   */
  readonly verdict: string;
  readonly reason?: string;
  /** What it changed of the object. */
  readonly patch?: readonly JsonPatchOperation[];
  readonly notes?: readonly TraceNote[];
}

/** A trace as it is published. */
export interface TraceDocument {
  /** The Audit-Id of the request. */
  readonly id: string;
  /** RFC 3339. */
  readonly receivedAt: string;
  readonly milliseconds: number;
  readonly method: string;
  readonly url: string;
  readonly user: Pick<UserInfo, 'name' | 'groups'> | null;
  readonly impersonator: Pick<UserInfo, 'name' | 'groups'> | null;
  /** The answer's; 0 while there is none. */
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

/** Everything that decided about one request, in the order in which it was asked. */
export class RequestTrace implements AdmissionTrace {
  readonly #steps: TraceStep[] = [];
  readonly #receivedAt = new Date();
  readonly #began = performance.now();
  #notes: TraceNote[] = [];
  #message = '';
  #context: TracedRequest | undefined;
  #closed: TraceDocument | undefined;

  /** `isKept`: it is kept whoever asks; without that only for those who may read traces. */
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
    const told = this.#context && isSecret(this.#context.info.apiGroup, this.#context.info.resource) ? withoutDetails : note;
    // An evaluation that had to wait was begun anew, and tells the same again.
    if (!this.#notes.some((known) => deepEqual(known, told))) this.#notes.push(told);
  }

  /** Adds a step with the notes that were taken since the last one. */
  add(step: TraceStep): void {
    const notes = this.#notes;
    this.#notes = [];
    this.#steps.push(notes.length > 0 ? { ...step, notes } : step);
  }

  /** What the client is told of a request that fails. */
  failed(message: string): void {
    this.#message = message;
  }

  /** As far as it has come. */
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

/** Whether objects of a resource are secrets: who may read traces may not read them by that. */
export function isSecret(group: string, resource: string): boolean {
  return group === '' && resource === 'secrets';
}

/** Milliseconds with three digits: what took less is nobody's concern. */
export function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 1_000) / 1_000;
}

function shown(user: UserInfo | undefined): TraceDocument['user'] {
  return user ? { name: user.name, groups: user.groups } : null;
}
