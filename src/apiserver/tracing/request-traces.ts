import type { Authorizer } from '#apiserver/authorization/authorizer';
import type { Exchange } from '#apiserver/request/exchange';
import type { RequestContext } from '#apiserver/request/request-context';
import { RequestTrace, type TraceDocument } from '#apiserver/request/request-trace';

/** Where traces are read: who may `get` it, may read all of them, and have own requests traced. */
export const tracesPath = '/debug/traces';
/** A request with this header, whatever its value, is traced; the answer says in the same header where the trace is. */
export const traceHeader = 'kubenest-trace';
/** Kept of those that asked, where not all are traced. */
const keptOfThoseThatAsked = 100;

/**
 * The last traces, and who gets one: requests that ask by a header and whose user may read traces, and where the server is
 * told to, all that write. What is not traced pays for one look at its headers.
 */
export class RequestTraces {
  readonly #kept: RequestTrace[] = [];

  /** `last`: how many writing requests are traced and kept; 0: only those that ask. `onClose` is told of each that is kept, once it is answered. */
  constructor(
    readonly last = 0,
    readonly onClose?: (trace: TraceDocument) => void,
  ) {}

  /** Begins the trace of a request that is to have one. */
  begin(context: RequestContext): void {
    const { exchange } = context;
    if (this.last > 0 && isWrite(exchange)) {
      context.trace = new RequestTrace(context, true, this.onClose);
      this.#keep(context.trace);
    } else if (exchange.headers[traceHeader] !== undefined) {
      context.trace = new RequestTrace(context, false, this.onClose);
    }
  }

  /** Ends the trace of a user who may not read it; asks for the impersonator where there is one. */
  async authorize(context: RequestContext, trace: RequestTrace, authorizer: Authorizer): Promise<void> {
    if (!trace.isKept && !(await this.#mayRead(context, authorizer))) {
      context.trace = undefined;
      return;
    }
    if (!trace.isKept) this.#keep(trace);
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

  /** The newest first. */
  get all(): readonly RequestTrace[] {
    return this.#kept.toReversed();
  }

  /** The newest of an Audit-Id; undefined if there is none, or no longer. */
  find(id: string): RequestTrace | undefined {
    return this.#kept.findLast((trace) => trace.document().id === id);
  }

  #keep(trace: RequestTrace): void {
    this.#kept.push(trace);
    if (this.#kept.length > (this.last || keptOfThoseThatAsked)) this.#kept.shift();
  }
}

function isWrite({ method }: Exchange): boolean {
  return method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS';
}
