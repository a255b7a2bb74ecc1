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

/** A filter's or endpoint's work on one request. A promise that rejects is answered by the outermost filter that knows how. */
export type Handler = (context: RequestContext) => void | Promise<void>;

/** Wraps the rest of the chain. */
export type Filter = (next: Handler) => Handler;

/** Under which labels a request is counted that came to an endpoint. */
export interface MeasuredEndpoint {
  readonly group: string;
  readonly version: string;
  /** `undefined`: all of these are the request's own. */
  readonly resource: string | undefined;
  readonly subresource: string;
  readonly component: string;
  /** Of a custom resource: upstream has no route of its own for it. */
  readonly isCustom: boolean;
}

/** All that the chain knows of one request. One fixed shape: every field is set by the constructor. */
export class RequestContext {
  readonly exchange: Exchange;
  readonly method: string;
  /** The decoded path. */
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
  /** Milliseconds of the monotonic clock at which the request came in. */
  receivedAt: number;
  info: RequestInfo;
  auditId: string;
  user: UserInfo | undefined;
  /** Who asked, where `user` is impersonated. */
  impersonator: UserInfo | undefined;
  /** The verb that allowed it, where that was not the plain `impersonate`. */
  impersonationConstraint: string;
  /** Sent with whatever is answered. */
  readonly headers: FlatHeaders;
  warnings: string[] | undefined;
  #warnedRunes = 0;
  /** Of the endpoint that the request came to: errors are answered in them. Before, and elsewhere, undefined: in what every endpoint answers. */
  mediaTypes: readonly MediaType[] | undefined;
  /** Opened by the AdmissionInterceptor on writing endpoints. */
  admission: AdmissionContext | undefined;
  /** Made where the request is audited; without it nobody notes any. */
  auditAnnotations: Map<string, string> | undefined;
  /** Of a request that is traced. */
  trace: RequestTrace | undefined;
  /** Of a request that is sampled for a collector of traces. */
  span: RequestSpan | undefined;
  /** What the audit notes of this request; undefined where it is not audited. */
  audit: AuditContext | undefined;
  /** Milliseconds of the monotonic clock after which the request is answered with a time-out; 0: none. */
  deadline: number;
  /** Watches, proxies and streams: exempt from deadlines and in-flight limits. */
  longRunning: boolean;
  /** When the request came to the stages that can take time, by the monotonic clock, in the order of the chain's marks; 0: not yet. */
  readonly marks: number[];
  /** Set by the endpoint that it came to; undefined: it is none of those that are counted. */
  measured: MeasuredEndpoint | undefined;
  /** The status that was answered; 0 before. */
  status: number;
  /** The size of the body that was read; -1: none was. */
  requestBytes: number;
  /** The size of the answer's body, as far as it was known when it was sent. */
  responseBytes: number;
  /** Milliseconds that it waited for others, which are no work of the server's own. */
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
    this.measured = undefined;
    this.status = 0;
    this.requestBytes = -1;
    this.responseBytes = 0;
    this.waitedMs = 0;
    this.#waitedUntil = 0;
    this.#searchParams = undefined;
    this.#settled = undefined;
  }

  /** There is an answer, sent or about to be: there can be no other. */
  get answered(): boolean {
    return this.exchange.responded || this.audit?.holdsAnswer === true;
  }

  get searchParams(): URLSearchParams {
    return this.query === '' ? noParameters() : (this.#searchParams ??= parseQuery(this.query));
  }

  /** One value of a request header; of a repeated header, what Node joins of it. */
  header(name: string): string | undefined {
    const value = this.exchange.headers[name];
    return Array.isArray(value) ? value[0] : value;
  }

  /**
   * Calls `listener` when a request that is served asynchronously is over, whatever its end, in the order of these calls. For
   * filters whose `next` returned a promise: one promise settles for all of them, where a `finally` of each would make three more.
   */
  whenSettled(listener: () => void): void {
    (this.#settled ??= []).push(listener);
  }

  /** The request is over. Of the outermost filter that waits. */
  settle(): void {
    const listeners = this.#settled;
    if (listeners === undefined) return;
    this.#settled = undefined;
    for (const listener of listeners) listener();
  }

  /** It waited for others between these times of the monotonic clock; what overlaps with what was told before counts once. */
  waited(from: number, to: number): void {
    this.waitedMs += Math.max(0, to - Math.max(from, this.#waitedUntil));
    this.#waitedUntil = Math.max(to, this.#waitedUntil);
  }

  /** Whether there is room for another warning. */
  get takesWarnings(): boolean {
    return this.#warnedRunes <= warningRunes;
  }

  /** Adds a `Warning: 299` header to the response. Repeated texts are sent once; those that would not be sent are not kept. */
  warn(whole: string): void {
    if (whole === '' || isUnsendable(cutText(whole))) return;
    const text = whole.slice(0, longestWarning);
    this.warnings ??= [];
    if (!this.takesWarnings || this.warnings.includes(text)) return;
    this.warnings.push(text);
    this.#warnedRunes += leastRunes(text);
  }

  /** The user once authentication is done. Throws before: that is a mistake of the chain. */
  get authenticatedUser(): UserInfo {
    if (!this.user) throw new Error('the request is not authenticated yet');
    return this.user;
  }
}
