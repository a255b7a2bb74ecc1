import { Buffer } from 'node:buffer';
import { respondBytes, respondText } from '#apiserver/endpoints/handlers/responses';
import type { Handler, RequestContext } from '#apiserver/request/request-context';
import type { PathMux } from '#apiserver/endpoints/path-mux';
import { type RequestTraces, tracesPath } from '#apiserver/tracing/request-traces';
import type { TraceDocument } from '#apiserver/request/request-trace';
import { plain, traceText } from '#apiserver/tracing/trace-text';

/**
 * `/debug/traces`: all that are kept, the newest first; `/debug/traces/<Audit-Id>`: one. As JSON, or with
 * `Accept: text/plain` or `?output=text` as a tree. Paths like any other: RBAC says who may see them.
 */
export function installTraces(mux: PathMux, traces: RequestTraces, notFound: Handler): void {
  const all: Handler = (context) => {
    const documents = traces.all.map((trace) => trace.document());
    respond(context, wantsText(context) ? documents.map(traceText).join('\n\n') : { traces: documents });
  };
  mux.handle(tracesPath, all, false);
  mux.handlePrefix(`${tracesPath}/`, (context) => {
    const found = traces.find(context.path.slice(tracesPath.length + 1))?.document();
    if (!found) return notFound(context);
    respond(context, wantsText(context) ? traceText(found) : found);
  });
}

function wantsText(context: RequestContext): boolean {
  return context.searchParams.get('output') === 'text' || (context.header('accept') ?? '').startsWith('text/plain');
}

function respond(context: RequestContext, answer: string | TraceDocument | { readonly traces: readonly TraceDocument[] }): void {
  if (typeof answer === 'string') return respondText(context, 200, answer);
  respondBytes(context, 200, 'application/json', Buffer.from(`${JSON.stringify(answer, (_, value: unknown) => plain(value))}\n`));
}
