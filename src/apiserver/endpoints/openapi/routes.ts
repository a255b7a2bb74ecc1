import { respondBytes, respondPieces, respondText, setHeader, startHeaders } from '#apiserver/endpoints/handlers/responses';
import { withMeasurement } from '#apiserver/endpoints/handlers/measurement';
import type { Handler, RequestContext } from '#apiserver/request/request-context';
import type { PathMux } from '#apiserver/endpoints/path-mux';
import { byteRanges, bytesOf, contentRange, multipartRanges } from './byte-ranges.ts';
import type { OpenApiAnswer } from './openapi-answer.ts';
import type { OpenApiRegistry } from './openapi-registry.ts';
import { precondition } from './preconditions.ts';

const json = 'application/json';
/** Content-Types of the protobuf forms. Clients request them with `@v1.0` or `.v1.0`. */
const swaggerProtobuf = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
const documentProtobuf = 'application/com.github.proto-openapi.spec.v3.v1.0+protobuf';

/** Returns the type of `offered` that the client prefers; undefined if it accepts none. */
export function acceptedType(accept: string | undefined, offered: readonly string[]): string | undefined {
  if (!accept) return offered[0];
  const ranges = accept.split(',').map((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
    const quality = parameters.find((parameter) => parameter.startsWith('q='));
    return { type: type.replace('@v', '.v'), quality: quality === undefined ? 1 : Number(quality.slice(2)) };
  });
  for (const { type } of ranges.sort((a, b) => b.quality - a.quality)) {
    const found = offered.find(
      (candidate) => type === candidate || type === '*/*' || (type.endsWith('/*') && candidate.startsWith(type.slice(0, -1))),
    );
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Responds with 304 or 412 if the preconditions require it; otherwise returns false. */
function isAnswered(context: RequestContext, contentType: string | undefined, answer: OpenApiAnswer): boolean {
  const { headers } = context;
  if (answer.etag !== '') headers.push('ETag', `"${answer.etag}"`, 'Vary', 'Accept');
  const met = precondition((name) => context.header(name), answer);
  if (met === 'send') return false;
  if (met === 'not modified') {
    // Go drops it beside an ETag (writeNotModified).
    if (answer.etag === '') headers.push('Last-Modified', answer.modified);
    respondBytes(context, 304, undefined, undefined);
  } else {
    headers.push('Last-Modified', answer.modified);
    respondBytes(context, 412, contentType, undefined);
  }
  return true;
}

/**
 * Sends the requested ranges; without any, it announces range support and returns false. Upstream: Go's net/http/fs.go
 * (serveContent).
 */
function isPart(context: RequestContext, contentType: string, { pieces, size, etag, modified }: OpenApiAnswer): boolean {
  const { headers } = context;
  const condition = context.header('if-range');
  const isCurrent = condition === undefined || condition === `"${etag}"` || condition === modified;
  const ranges = byteRanges(isCurrent ? context.header('range') : undefined, size);
  if ('message' in ranges) {
    if (etag !== '') headers.splice(headers.indexOf('ETag'), 2);
    if (ranges.isOutside) headers.push('Content-Range', `bytes */${size}`);
    respondText(context, 416, ranges.message);
    return true;
  }
  headers.push('Accept-Ranges', 'bytes', 'Last-Modified', modified);
  const [first, second] = ranges;
  if (!first) return false;
  if (second) {
    const parts = multipartRanges(pieces, size, contentType, ranges);
    respondBytes(context, 206, parts.contentType, parts.body);
  } else {
    headers.push('Content-Range', contentRange(first, size));
    respondBytes(context, 206, contentType, bytesOf(pieces, first));
  }
  return true;
}

function notAcceptable(context: RequestContext): void {
  context.headers.push('Vary', 'Accept');
  respondBytes(context, 406, undefined, undefined);
}

/** Serves /openapi/v2. Upstream: gziphandler, which sets Vary in any case. */
async function serveSwagger(context: RequestContext, openApi: OpenApiRegistry): Promise<void> {
  context.headers.push('Vary', 'Accept-Encoding');
  const type = acceptedType(context.header('accept'), [json, swaggerProtobuf]);
  if (type === undefined) return notAcceptable(context);
  const answer = type === json ? await openApi.swaggerJson() : await openApi.swaggerProtobuf();
  if (isAnswered(context, type, answer) || isPart(context, type, answer)) return;
  void respondPieces(context, type, answer.pieces);
}

/** Serves the index, which has no ETag and is modified now. Upstream: HandleDiscovery of handler3/handler.go. */
async function serveIndex(context: RequestContext, openApi: OpenApiRegistry): Promise<void> {
  const { pieces, size } = await openApi.index();
  const type = 'text/plain; charset=utf-8';
  const answer = { pieces, size, etag: '', modified: new Date().toUTCString() };
  // Upstream determines the type only with the body.
  if (isAnswered(context, undefined, answer) || isPart(context, type, answer)) return;
  context.exchange.sendPieces(200, startHeaders(context, 200, type), pieces, size);
}

/** Serves a document. Under its hash it is immutable; another hash redirects to the current one. */
async function serveDocument(context: RequestContext, path: string, openApi: OpenApiRegistry): Promise<void> {
  const type = acceptedType(context.header('accept'), [json, documentProtobuf]);
  const answer = await (type === documentProtobuf ? openApi.documentProtobuf(path) : openApi.document(path));
  if (!answer) return respondBytes(context, 404, undefined, undefined);
  if (type === undefined) return notAcceptable(context);
  const hash = (context.query !== '' && context.searchParams.get('hash')) || null;
  if (hash !== null && hash !== answer.etag) {
    context.headers.push('ETag', `"${answer.etag}"`, 'Vary', 'Accept', 'Location', `/openapi/v3/${path}?hash=${answer.etag}`);
    return respondBytes(context, 301, type, undefined);
  }
  if (isAnswered(context, type, answer)) return;
  if (hash !== null) {
    const year = 365 * 24 * 60 * 60 * 1000;
    setHeader(context.headers, 'Cache-Control', 'public, immutable');
    context.headers.push('Expires', new Date(Date.now() + year).toUTCString());
  }
  if (isPart(context, type, answer)) return;
  context.exchange.sendPieces(200, startHeaders(context, 200, type), answer.pieces, answer.size);
}

/** Installs /openapi/v2 and /openapi/v3 with the paths below. Upstream: kube-openapi/pkg/handler, handler3. */
export function installOpenApi(mux: PathMux, openApi: OpenApiRegistry): void {
  mux.handle('/openapi/v2', (context) => serveSwagger(context, openApi));
  mux.handle(
    '/openapi/v3',
    withMeasurement('openapi/v3', '', (context) => serveIndex(context, openApi)),
  );
  const below = (serve: Handler): Handler => withMeasurement('openapi/v3/', '', serve);
  mux.handle(
    '/openapi/v3/',
    below((context) => respondBytes(context, 404, undefined, undefined)),
  );
  mux.handlePrefix(
    '/openapi/v3/',
    below((context) => serveDocument(context, context.path.slice('/openapi/v3/'.length), openApi)),
  );
}
