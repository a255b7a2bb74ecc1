import { Buffer } from 'node:buffer';
import { respondBytes, respondText } from '#apiserver/endpoints/handlers/responses';
import type { Handler, RequestContext } from '#apiserver/request/request-context';
import type { PathMux } from '#apiserver/endpoints/path-mux';
import { type RequestTraces, tracesPath } from '#apiserver/tracing/request-traces';
import type { TraceDocument } from '#apiserver/request/request-trace';
import { plain, traceText } from '#apiserver/tracing/trace-text';

/**
 * Serves `/debug/traces`, all kept traces, newest first, and `/debug/traces/<Audit-Id>`, a single one: as JSON, or as a tree
 * with `Accept: text/plain` or `?output=text`. Access is controlled by RBAC like that of other paths.
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
