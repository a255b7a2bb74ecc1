import type { AdmissionContext } from './admission-context.ts';
import type { AuditContext } from './audit-context.ts';
import type { MediaType } from './media-type.ts';
import type { Exchange, FlatHeaders } from './exchange.ts';
import { noParameters, parseQuery } from './query.ts';
import type { RequestInfo } from './request-info.ts';
import type { RequestSpan } from './request-span.ts';
import type { RequestTrace } from './request-trace.ts';
import type { UserInfo } from './user-info.ts';
import { cutText, isUnsendable, leastRunes, longestWarning, warningRunes } from './warnings.ts';

/** Serves one request in a filter or endpoint. The outermost filter that handles the error responds to a rejection. */
export type Handler = (context: RequestContext) => void | Promise<void>;

/** Wraps the rest of the handler chain. */
export type Filter = (next: Handler) => Handler;

/** Metric labels of a request that reached an endpoint. */
export interface MeasuredEndpoint {
  readonly group: string;
  readonly version: string;
  /** Resource label; undefined: the labels come from the request info. */
  readonly resource: string | undefined;
  readonly subresource: string;
  readonly component: string;
  /** True for a custom resource, which has no route of its own upstream. */
  readonly isCustom: boolean;
}

/** State of one request in the handler chain. The constructor sets every field, so that all objects have one shape. */
export class RequestContext {
  readonly exchange: Exchange;
  readonly method: string;
  /** Decoded path. */
  readonly path: string;
  /** Query without the question mark. */
  readonly query: string;
  /** Time of receipt in milliseconds of the monotonic clock. */
  receivedAt: number;
  info: RequestInfo;
  auditId: string;
  user: UserInfo | undefined;
  /** The authenticated user if `user` is impersonated. */
  impersonator: UserInfo | undefined;
  /** The verb that allowed the impersonation; empty for the plain `impersonate`. */
  impersonationConstraint: string;
  /** Headers of the response, whatever its status. */
  readonly headers: FlatHeaders;
  warnings: string[] | undefined;
  #warnedRunes = 0;
  /**
   * Media types of the endpoint, in which errors are encoded. Undefined outside of an endpoint: the types that every endpoint
   * supports.
   */
  mediaTypes: readonly MediaType[] | undefined;
  /** Admission, opened by the AdmissionInterceptor on writing endpoints. */
  admission: AdmissionContext | undefined;
  /** Audit annotations; undefined if the request is not audited. */
  auditAnnotations: Map<string, string> | undefined;
  /** Decision trace; undefined if the request is not traced. */
  trace: RequestTrace | undefined;
  /** Tracing span; undefined if the request is not sampled. */
  span: RequestSpan | undefined;
  /** Audit record; undefined if the request is not audited. */
  audit: AuditContext | undefined;
  /** Deadline in milliseconds of the monotonic clock, after which the request times out; 0: none. */
  deadline: number;
  /** True for watches, proxies and streams, which are exempt from deadlines and in-flight limits. */
  longRunning: boolean;
  /**
   * Times of the monotonic clock at which the request reached each stage that can take long, in the order of the chain's marks; 0:
   * not reached.
   */
  readonly marks: number[];
  /** False if no response may be compressed. */
  compresses: boolean;
  /** Metric labels, set by the endpoint; undefined: the request reached no measured endpoint. */
  measured: MeasuredEndpoint | undefined;
  /** HTTP status of the response; 0 before the response. */
  status: number;
  /** Size of the body that was read in bytes; -1: no body was read. */
  requestBytes: number;
  /** Size of the response body in bytes, as far as it was known when it was sent. */
  responseBytes: number;
  /** Milliseconds spent waiting for external calls, which do not count as the server's own work. */
  waitedMs: number;
  #waitedUntil: number;
  #searchParams: URLSearchParams | undefined;
  #settled: (() => void)[] | undefined;

  constructor(exchange: Exchange, path: string, query: string, info: RequestInfo) {
    this.exchange = exchange;
    this.method = exchange.method;
    this.path = path;
    this.query = query;
    this.receivedAt = 0;
    this.info = info;
    this.auditId = '';
    this.user = undefined;
    this.impersonator = undefined;
    this.impersonationConstraint = '';
    this.headers = [];
    this.warnings = undefined;
    this.mediaTypes = undefined;
    this.admission = undefined;
    this.auditAnnotations = undefined;
    this.trace = undefined;
    this.span = undefined;
    this.audit = undefined;
    this.deadline = 0;
    this.longRunning = false;
    this.marks = [0, 0, 0, 0, 0, 0];
    this.compresses = true;
    this.measured = undefined;
    this.status = 0;
    this.requestBytes = -1;
    this.responseBytes = 0;
    this.waitedMs = 0;
    this.#waitedUntil = 0;
    this.#searchParams = undefined;
    this.#settled = undefined;
  }

  /** True if a response was sent or is about to be sent; no other response can follow. */
  get answered(): boolean {
    return this.exchange.responded || this.audit?.holdsAnswer === true;
  }

  get searchParams(): URLSearchParams {
    return this.query === '' ? noParameters() : (this.#searchParams ??= parseQuery(this.query));
  }

  /** Returns the value of a request header; values of a repeated header are joined as Node joins them. */
  header(name: string): string | undefined {
    const value = this.exchange.headers[name];
    return Array.isArray(value) ? value[0] : value;
  }

  /**
   * Calls `listener` when an asynchronous request is over, successful or not, in registration order. Filters whose `next` returned
   * a promise use it because one promise then settles for all of them, where a `finally` in each filter would create three more.
   */
  whenSettled(listener: () => void): void {
    (this.#settled ??= []).push(listener);
  }

  /** Ends the request. The outermost asynchronous filter calls it. */
  settle(): void {
    const listeners = this.#settled;
    if (listeners === undefined) return;
    this.#settled = undefined;
    for (const listener of listeners) listener();
  }

  /** Records waiting time between two times of the monotonic clock. Overlap with recorded intervals counts once. */
  waited(from: number, to: number): void {
    this.waitedMs += Math.max(0, to - Math.max(from, this.#waitedUntil));
    this.#waitedUntil = Math.max(to, this.#waitedUntil);
  }

  /** True if another warning would be sent. */
  get takesWarnings(): boolean {
    return this.#warnedRunes <= warningRunes;
  }

  /** Adds a `Warning: 299` header to the response. Repeated texts are sent once; texts beyond the limit are dropped. */
  warn(whole: string): void {
    if (whole === '' || isUnsendable(cutText(whole))) return;
    const text = whole.slice(0, longestWarning);
    this.warnings ??= [];
    if (!this.takesWarnings || this.warnings.includes(text)) return;
    this.warnings.push(text);
    this.#warnedRunes += leastRunes(text);
  }

  /** Drops the warnings so far. */
  unwarn(): void {
    this.warnings = undefined;
    this.#warnedRunes = 0;
  }

  /** Returns the authenticated user. Throws before authentication, which is a mistake in the order of the chain. */
  get authenticatedUser(): UserInfo {
    if (!this.user) throw new Error('the request is not authenticated yet');
    return this.user;
  }
}
