import http from 'node:http';
import type { Duplex } from 'node:stream';
import { duplexPair } from 'node:stream';
import type { HttpServer } from '@nestjs/common';
import { requestContextKey } from '#apiserver/request/execution-context';
import { endToEndAnswerHeaders, endToEndHeaders, framingOf, sendBodyOn } from '#apiserver/endpoints/handlers/forwarding';
import { sendOn } from '#apiserver/endpoints/handlers/responses';
import type { Exchange } from '#apiserver/request/exchange';
import type { RequestContext } from '#apiserver/request/request-context';
import type { GenericServer } from '#apiserver/server/generic-server';
import { Http1Exchange } from '#apiserver/serving/http1-exchange';

type Route = (request: http.IncomingMessage, response: http.ServerResponse) => void;
interface ExpressLike {
  (request: http.IncomingMessage, response: http.ServerResponse, next: (error?: unknown) => void): void;
  readonly router: { readonly stack: readonly { readonly route?: unknown; match?(path: string): unknown }[] };
}

/**
 * Lets Express serve the paths of Nest controllers, which are neither resources nor paths of the mux. Express receives HTTP/1.1 requests
 * without a body directly. It cannot process other requests, which are therefore sent over a pair of connected in-process streams.
 */
export function bridgeExpress(server: GenericServer, adapter: Pick<HttpServer, 'getInstance'>): void {
  const express = adapter.getInstance() as ExpressLike;
  const pages = (context: RequestContext): boolean =>
    express.router.stack.some((layer) => layer.route !== undefined && Boolean(layer.match?.(context.path)));
  const contexts = new Map<string, RequestContext>();
  const run = (request: http.IncomingMessage, response: http.ServerResponse, context: RequestContext): void => {
    Object.defineProperty(request, requestContextKey, { value: context });
    for (let at = 0; at < context.headers.length; at += 2)
      response.setHeader(context.headers[at] as string, context.headers[at + 1] as string);
    response.once('finish', () => {
      context.status = response.statusCode;
    });
    // Express calls this if no handler answers, or after an error, perhaps of a handler that has answered already.
    express(request, response, (error) => {
      if (!response.headersSent) response.writeHead(error === undefined ? 404 : 500);
      response.end();
    });
  };
  const inner = http.createServer(((request, response) => {
    const id = String(request.headers['x-kubenest-bridge'] ?? '');
    const context = contexts.get(id);
    contexts.delete(id);
    if (!context) return void response.destroy();
    run(request, response, context);
  }) satisfies Route);

  server.mux.setFallback((context) => {
    if (!pages(context)) return false;
    const { exchange } = context;
    if (exchange instanceof Http1Exchange && !exchange.body) run(exchange.raw.request, exchange.raw.response, context);
    else overPair(inner, contexts, context, exchange);
    return true;
  });
}

let bridged = 0;

function overPair(inner: http.Server, contexts: Map<string, RequestContext>, context: RequestContext, exchange: Exchange): void {
  const [client, side] = duplexPair() as [Duplex, Duplex];
  inner.emit('connection', side);
  const id = String((bridged += 1));
  contexts.set(id, context);
  const outgoing = http.request({
    createConnection: () => client as never,
    method: exchange.method,
    path: exchange.url,
    headers: {
      ...endToEndHeaders(exchange),
      host: String(exchange.headers[':authority'] ?? 'localhost'),
      'x-kubenest-bridge': id,
      ...framingOf(exchange.bodyLength),
    },
  });
  outgoing.on('response', (response) => {
    const { headers, rawHeaders, statusCode = 500 } = response;
    sendOn(response, exchange.open(statusCode, endToEndAnswerHeaders(statusCode, headers, rawHeaders)));
  });
  outgoing.on('error', () => {
    if (!exchange.responded) exchange.send(500, [], undefined);
  });
  exchange.onClose(() => outgoing.destroy());
  sendBodyOn(exchange, outgoing);
}
