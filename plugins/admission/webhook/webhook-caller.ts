import { type Attributes, type Logger, newInternalError, type TraceNote } from 'kubenest/sdk';
import { RequestTimeoutError, startSteps, type Steps } from '#sdk/internal';
import { hasNoSideEffects, type Invocation } from './hook.ts';
import { type Answer, newReview, readAnswerSteps, type Review, type ReviewObjects, type ReviewVersion, reviewVersionOf } from './review.ts';
import { decodeReview } from './review-decoding.ts';
import { ClientError, RequestError, type WebhookClient } from './webhook-client.ts';
import { CallError, denialOf, dryRunUnsupported, Rejection } from './webhook-errors.ts';
import type { Call, WebhookMetrics } from './webhook-metrics.ts';

/** Span names. Upstream: apiserver/pkg/admission/plugin/webhook/{mutating,validating}/dispatcher.go. */
const spanNames = { admit: 'Call mutating webhook', validating: 'Call validating webhook' } as const;

/** Calls webhooks of one type and applies their failure policy. */
export class WebhookCaller {
  constructor(
    readonly type: Call['type'],
    readonly client: WebhookClient,
    readonly metrics: WebhookMetrics,
    readonly logger: Logger,
  ) {}

  /**
   * Calls a webhook, applies `use` to its response and resolves to the result; undefined if the webhook failed and its
   * failurePolicy is Ignore. Rejects with the Status for the client.
   */
  async call<T>(
    request: Attributes,
    invocation: Invocation,
    objects: () => ReviewObjects | Promise<ReviewObjects>,
    use: (answer: Answer) => T | Promise<T>,
    onFailOpen: (error: Error) => void,
  ): Promise<T | undefined> {
    const { name, failurePolicy } = invocation.hook.spec;
    const failsOpen = failurePolicy === 'Ignore';
    const began = performance.now();
    let uid: string | undefined;
    const observe = (error?: unknown): void => {
      request.trace?.note(noteOf(invocation, performance.now() - began, uid, error));
      this.metrics.observe({
        webhook: name,
        type: this.type,
        operation: request.operation,
        seconds: (performance.now() - began) / 1_000,
        failsOpen,
        error,
      });
    };
    try {
      const answer = await this.#ask(request, invocation, objects, (id) => {
        uid = id;
      });
      const result = await use(answer);
      observe();
      return result;
    } catch (error) {
      observe(error);
      if (error instanceof Rejection) throw error.status;
      if (!(error instanceof CallError)) throw error;
      this.logger.warn({ webhook: name, failsOpen, reason: error.message }, 'failed calling webhook');
      if (failsOpen) {
        this.metrics.failedOpen(name, this.type);
        onFailOpen(error);
      }
      if (isLate(request)) throw new RequestTimeoutError();
      if (!failsOpen) throw newInternalError(error);
      return undefined;
    }
  }

  /** Calls `onReview` with the uid of the review before sending it. */
  async #ask(
    request: Attributes,
    invocation: Invocation,
    objects: () => ReviewObjects | Promise<ReviewObjects>,
    onReview: (uid: string) => void,
  ): Promise<Answer> {
    const { spec } = invocation.hook;
    if (request.dryRun && !hasNoSideEffects(spec)) throw dryRunUnsupported(spec.name);
    let version: ReviewVersion;
    try {
      version = reviewVersionOf(spec);
    } catch (error) {
      throw new CallError(spec.name, `could not create admission objects: ${(error as Error).message}`, 400);
    }
    const review = newReview(request, invocation, version, await objects());
    onReview(review.uid);
    let document: Readonly<Record<string, unknown>>;
    const began = performance.now();
    try {
      const post = () => this.client.post(spec.clientConfig, review.body, timeoutOf(request, spec.timeoutSeconds), request.traceHeaders);
      const within = request.within?.(spanNames[this.type], spanAttributes(request, invocation, review.uid), post);
      document = await decodeReview(await (within ?? post()), version);
    } catch (error) {
      throw new CallError(
        spec.name,
        `${error instanceof ClientError ? 'could not get REST client' : 'failed to call webhook'}: ${(error as Error).message}`,
        error instanceof RequestError ? error.code : 503,
      );
    } finally {
      request.waited?.(began, performance.now());
    }
    const answer = await this.#read(spec.name, review, document);
    await startSteps(noteSteps(request, spec.name, answer));
    if (!answer.allowed) throw new Rejection(denialOf(spec.name, answer.status));
    return answer;
  }

  async #read(name: string, review: Review, document: Readonly<Record<string, unknown>>): Promise<Answer> {
    try {
      return await startSteps(readAnswerSteps(review, document, this.type === 'admit'));
    } catch (error) {
      throw new CallError(name, `received invalid webhook response: ${(error as Error).message}`, 503);
    }
  }
}

/** Number of texts that are recorded between two yields. */
const textsPerStep = 1_024;

/** Records the audit annotations and warnings of a response. Yields to the event loop. */
function* noteSteps(request: Attributes, webhook: string, { auditAnnotations, warnings }: Answer): Steps<void> {
  for (const [i, [key, value]] of auditAnnotations.entries()) {
    if (i % textsPerStep === 0) yield;
    request.addAnnotation(`${webhook}/${key}`, value);
  }
  for (const [i, warning] of warnings.entries()) {
    if (i % textsPerStep === 0) yield;
    request.addWarning(warning);
  }
}

/** Returns the timeout in milliseconds: the webhook's, limited by the remaining time of the request. */
function timeoutOf({ deadline }: Attributes, timeoutSeconds = 10): number {
  const own = timeoutSeconds * 1_000;
  return deadline === 0 ? own : Math.max(1, Math.min(own, Math.ceil(deadline - performance.now())));
}

/** True if the request's deadline has passed. */
function isLate({ deadline }: Attributes): boolean {
  return deadline !== 0 && performance.now() >= deadline;
}

function spanAttributes(
  { resource, subresource, operation }: Attributes,
  { hook }: Invocation,
  uid: string,
): readonly (readonly [key: string, value: string])[] {
  return [
    ['configuration', hook.configuration],
    ['webhook', hook.spec.name],
    ['resource', `${resource.group}/${resource.version}, Resource=${resource.resource}`],
    ['subresource', subresource],
    ['operation', operation],
    ['UID', uid],
  ];
}

/** Returns the trace note of a call. */
function noteOf({ hook }: Invocation, milliseconds: number, uid: string | undefined, error: unknown): TraceNote {
  const rejected = error instanceof Rejection;
  const reason = error === undefined ? undefined : rejected ? error.status.message : (error as Error).message;
  return {
    kind: 'webhook',
    name: `${hook.configuration}/${hook.spec.name}`,
    milliseconds: Math.round(milliseconds * 1_000) / 1_000,
    verdict: error === undefined ? 'allowed' : rejected ? 'denied' : `failed (${hook.spec.failurePolicy ?? 'Fail'})`,
    ...(reason !== undefined && { reason }),
    ...(uid !== undefined && { details: { 'request uid': uid } }),
  };
}
