import { StatusError } from '#apimachinery/api/errors';
import { isUpgrade, proxyRequest } from '#apiserver/endpoints/handlers/proxy';
import { respondText } from '#apiserver/endpoints/handlers/responses';
import { escapePath } from '#apiserver/request/path';
import type { Handler, RequestContext } from '#apiserver/request/request-context';
import type { ExtensionServer } from './extension-server.ts';
import type { RemoteServer } from './remote-server.ts';

/**
 * Proxies the requests of one APIService to its server. Errors are plain text, like upstream's. Upstream:
 * kube-aggregator/pkg/apiserver/handler_proxy.go.
 */
export class ProxyHandler {
  isAvailable = false;

  constructor(
    public server: ExtensionServer,
    readonly rejectsRedirects: boolean,
  ) {}

  readonly serve: Handler = (context) => {
    if (!this.isAvailable) return respondText(context, 503, 'service unavailable');
    return proxyTo(this.server, context, this.rejectsRedirects);
  };
}

/** Proxies a request, as the user that this server has authenticated. Errors are plain text with the status 503. */
export async function proxyTo(server: RemoteServer, context: RequestContext, rejectsRedirects: boolean): Promise<void> {
  // Authorization used this path, so the proxied request uses it too.
  const path = escapePath(context.path);
  let location: ReturnType<RemoteServer['location']>;
  try {
    location = server.location(path, queryOf(context), context.authenticatedUser);
  } catch {
    return respondText(context, 503, 'service unavailable');
  }
  const headers = { ...location.headers, 'x-forwarded-uri': path, ...(context.auditId && { 'audit-id': context.auditId }) };
  try {
    await proxyRequest(context, { ...location, headers, rejectsRedirects }, isUpgrade(context));
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    if (!context.answered && !context.exchange.closed) respondText(context, 503, error.message);
  }
}

/** Encodes the parsed query parameters, by name. */
function queryOf({ query, searchParams }: RequestContext): string {
  if (query === '') return '';
  const parameters = new URLSearchParams(searchParams);
  parameters.sort();
  return parameters.toString();
}
