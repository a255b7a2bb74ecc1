import type { Authorizer } from '#apiserver/authorization/authorizer';
import type { Exchange } from '#apiserver/request/exchange';
import type { RequestContext } from '#apiserver/request/request-context';
import { RequestTrace, type TraceDocument } from '#apiserver/request/request-trace';

/** Path of the traces. A user who may `get` it can read all traces and have own requests traced. */
export const tracesPath = '/debug/traces';
/** Header that requests a trace, with any value; the response has the trace's path in the same header. */
export const traceHeader = 'kubenest-trace';
/** Number of kept traces that were requested by the header, if not all requests are traced. */
const keptOfThoseThatAsked = 100;

/** A trace that can be shown: of a request or of a reconcile. */
export type KeptTrace = Pick<RequestTrace, 'document'>;

/**
 * Keeps the latest traces and decides which requests are traced: those with the header whose user may read traces, and, if
 * configured, all writes. Other requests cost only the check of the header.
 */
export class RequestTraces {
  readonly #kept: KeptTrace[] = [];

  /**
   * `last` is the number of writes to trace and keep; 0 traces only requests with the header. `onClose` is called with each
   * kept trace after its response.
   */
  constructor(
    readonly last = 0,
    readonly onClose?: (trace: TraceDocument) => void,
  ) {}

  /** Starts the trace of a request if it must be traced. */
  begin(context: RequestContext): void {
    const { exchange } = context;
    if (this.last > 0 && isWrite(exchange)) {
      context.trace = new RequestTrace(context, true, this.onClose);
      this.keep(context.trace);
    } else if (exchange.headers[traceHeader] !== undefined) {
      context.trace = new RequestTrace(context, false, this.onClose);
    }
  }

  /** Discards the trace if the user may not read traces; checks the impersonator of an impersonated request. */
  async authorize(context: RequestContext, trace: RequestTrace, authorizer: Authorizer): Promise<void> {
    if (!trace.isKept && !(await this.#mayRead(context, authorizer))) {
      context.trace = undefined;
      return;
    }
    if (!trace.isKept) this.keep(trace);
    trace.isKept = true;
    context.headers.push('Kubenest-Trace', `${tracesPath}/${context.auditId}`);
  }

  async #mayRead(context: RequestContext, authorizer: Authorizer): Promise<boolean> {
    const user = context.impersonator ?? context.authenticatedUser;
    const nothing = { apiGroup: '', apiVersion: '', resource: '', subresource: '', namespace: '', name: '' };
    const { decision } = await authorizer.authorize({ user, verb: 'get', isResourceRequest: false, path: tracesPath, ...nothing });
    if (decision === 'Allow') return true;
    context.warn(`the request is not traced: user ${JSON.stringify(user.name)} cannot get path ${JSON.stringify(tracesPath)}`);
    return false;
  }

  /** The kept traces, newest first. */
  get all(): readonly KeptTrace[] {
    return this.#kept.toReversed();
  }

  /** Returns the newest trace with an Audit-Id; undefined if none is kept. */
  find(id: string): KeptTrace | undefined {
    return this.#kept.findLast((trace) => trace.document().id === id);
  }

  /** Adds a trace; the oldest one makes room. */
  keep(trace: KeptTrace): void {
    this.#kept.push(trace);
    if (this.#kept.length > (this.last || keptOfThoseThatAsked)) this.#kept.shift();
  }
}

function isWrite({ method }: Exchange): boolean {
  return method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS';
}
