import { Buffer } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import {
  newGenericServerResponse,
  newInternalError,
  newRequestEntityTooLargeError,
  newStatus,
  newTimeoutError,
  StatusError,
} from '#apimachinery/api/errors';
import { metaSchema } from '#apimachinery/meta/schema/schema';
import type { KubeObject, Status } from '#apimachinery/meta/types';
import { encodeLine, encodeLineSteps } from '#apimachinery/runtime/encode';
import { indentJson, indentSteps } from '#apimachinery/runtime/json/indent';
import { parseJsonSteps } from '#apimachinery/runtime/json/json';
import { encodeCbor } from '#apimachinery/runtime/cbor/cbor';
import { encodeProtobuf, prepareProtobufSteps } from '#apimachinery/runtime/protobuf/protobuf';
import { encodeYaml } from '#apimachinery/runtime/yaml/yaml-emitter';
import type { StructType } from '#apimachinery/runtime/schema';
import { atOnce, inSteps, needsSteps, type Steps } from '#apimachinery/runtime/steps';
import type { AuditContext } from '#apiserver/request/audit-context';
import { writeYaml } from '#apiserver/endpoints/yaml/yaml-thread';
import { BodyTooLargeError, ClientGoneError, type Exchange, pushContentLength, type ResponseStream } from '#apiserver/request/exchange';
import type { RequestSpan } from '#apiserver/request/request-span';
import type { RequestContext } from '#apiserver/request/request-context';
import { warningHeaders } from '#apiserver/request/warnings';
import { MergedBytes } from '#apiserver/base/merged-bytes';
import { writeAsMade } from '#apiserver/serving/write-as-made';
import { ConflictError, NoSpaceError, StorageError, UnknownOutcomeError } from '#apiserver/storage/errors';
import { gzipPieces } from './gzip-pieces.ts';
import { isPretty, type Negotiated, negotiate, plainRestrictions, RouteError } from './negotiation.ts';

/** Minimum size of compressed bodies. Upstream: handlers/responsewriters/writers.go. */
export const gzipThreshold = 128 * 1024;
/** Smaller bodies are sent as one buffer to save records and system calls; for larger ones a copy costs more. */
const joinBelowBytes = 16 * 1024;

/** Sends a body unchanged. */
export function respondBytes(context: RequestContext, status: number, contentType: string | undefined, body: Buffer | undefined): void {
  const headers = startHeaders(context, status, contentType);
  context.responseBytes = body?.length ?? 0;
  const { audit, exchange } = context;
  if (!audit) return exchange.send(status, headers, body);
  completedBy(audit, exchange, () => exchange.send(status, headers, body));
}

/** Sends the whole response after its audit events are written, if the client is still connected. */
function completedBy(audit: AuditContext, exchange: Exchange, send: () => void): void {
  audit.completedBy(() => {
    if (!exchange.responded && !exchange.closed) send();
  });
}

/** Replaces a header set by a filter. The list alternates names and values. */
export function setHeader(headers: string[], name: string, value: string): void {
  for (let i = headers.length - 2; i >= 0; i -= 2) if (headers[i]?.toLowerCase() === name.toLowerCase()) headers.splice(i, 2);
  headers.push(name, value);
}

/** Sends a text and a newline, like Go's http.Error. */
export function respondText(context: RequestContext, status: number, text: string): void {
  context.headers.push('X-Content-Type-Options', 'nosniff');
  respondBytes(context, status, 'text/plain; charset=utf-8', Buffer.from(`${text}\n`));
}

/** Responds to a request without a route, by path (404) or by method (405). */
export function respondNoRoute(context: RequestContext, code: 404 | 405): void {
  respondError(context, newGenericServerResponse(code, context.method, { group: '', resource: '' }, '', '', 0, false));
}

/** Returns the headers of the response, including those of filters and warnings. Records the status. */
export function startHeaders(context: RequestContext, status: number, contentType: string | undefined): string[] {
  context.status = status;
  context.audit?.started(status);
  const { headers, warnings } = context;
  if (contentType !== undefined) headers.push('Content-Type', contentType);
  if (warnings) for (const value of warningHeaders(warnings)) headers.push('Warning', value);
  return headers;
}

/** Sends an object's JSON (with its final newline) in the negotiated form; `type` describes it for protobuf and CBOR. */
export function respondJson(context: RequestContext, status: number, json: Buffer, negotiated: Negotiated, type: StructType): void {
  if (context.span) void respondWithin(context.span, context, negotiated, () => respondJsonIn(context, status, json, negotiated, type));
  else respondJsonIn(context, status, json, negotiated, type);
}

/** Sends the response of a sampled request in a span. Upstream: endpoints/handlers/responsewriters/writers.go. */
export function respondWithin(
  span: RequestSpan,
  context: RequestContext,
  { mediaType }: Negotiated,
  respond: () => void | Promise<void>,
): void | Promise<void> {
  const { exchange, path } = context;
  const attributes = [
    ['method', exchange.method],
    ['url', path],
    ['protocol', exchange.protocol],
    ['mediaType', mediaType],
  ] as const;
  return span.around('SerializeObject', attributes, (addEvent) => {
    addEvent('About to start writing response');
    const written = (): void => addEvent('Write call succeeded', [['size', context.responseBytes]]);
    const responding = respond();
    return responding ? responding.then(written) : written();
  });
}

function respondJsonIn(context: RequestContext, status: number, json: Buffer, negotiated: Negotiated, type: StructType): void {
  if (context.audit?.recordsResponse) context.audit.responseObject(json);
  if (negotiated.mediaType === 'application/json' && json.length <= gzipThreshold && !wantsPretty(context, negotiated)) {
    return respondBytes(context, status, 'application/json', json);
  }
  void respondInMediaType(context, status, [json], negotiated, type);
}

/**
 * Sends JSON, given as one or more buffers, in the negotiated media type; yields to the event loop if it is large. Returns the end of the
 * work, which never rejects.
 */
export function respondInMediaType(
  context: RequestContext,
  status: number,
  json: readonly Buffer[],
  negotiated: Negotiated,
  type: StructType,
): void | Promise<void> {
  const encoding = inMediaType(context, json, negotiated, type);
  const failed = (error: unknown): void => respondError(context, newInternalError(error as Error));
  if (!needsSteps(lengthOf(json))) return respondPieces(context, negotiated.mediaType, atOnce(encoding), status);
  const gone = (leave: () => void): void => context.exchange.onClose(leave);
  const encoded = negotiated.mediaType === 'application/yaml' ? writeYaml(json, gone).then((yaml) => [yaml]) : inSteps(encoding);
  return encoded.then((pieces) => respondPieces(context, negotiated.mediaType, pieces, status)).catch(failed);
}

function* inMediaType(
  context: RequestContext,
  json: readonly Buffer[],
  negotiated: Negotiated,
  type: StructType,
): Steps<readonly Buffer[]> {
  if (negotiated.mediaType === 'application/json') return wantsPretty(context, negotiated) ? yield* indentSteps(json) : json;
  const bytes = Buffer.concat(json);
  const { value } = yield* parseJsonSteps(bytes);
  yield;
  switch (negotiated.mediaType) {
    case 'application/yaml':
      return [Buffer.from(encodeYaml(value))];
    case 'application/vnd.kubernetes.protobuf':
      if (needsSteps(bytes.length)) yield* prepareProtobufSteps(value as Partial<KubeObject>);
      return [encodeProtobuf(type, value)];
    case 'application/cbor':
      return [encodeCbor(cborType(type), value)];
  }
}

/**
 * Returns the type by which objects are encoded to CBOR; undefined for custom resources, which upstream encodes as maps without
 * byte strings.
 */
export function cborType(type: StructType): StructType | undefined {
  return type.registry && type;
}

export function wantsPretty(context: RequestContext, negotiated: Negotiated): boolean {
  return negotiated.pretty || (negotiated.mediaType === 'application/json' && isPretty(context.query, context.header('user-agent')));
}

/**
 * Sends a body of several buffers, compressed if it is large and the client accepts gzip; compressed buffers are cached with the
 * originals. Does nothing if the request was answered meanwhile. Returns the end of the compression, which never rejects.
 */
export function respondPieces(context: RequestContext, contentType: string, pieces: readonly Buffer[], status = 200): void | Promise<void> {
  if (context.answered || context.exchange.closed) return;
  const total = lengthOf(pieces);
  if (total <= joinBelowBytes) return respondBytes(context, status, contentType, Buffer.concat(pieces, total));
  if (total <= gzipThreshold || !acceptsGzip(context)) return sendPieces(context, status, contentType, pieces, total);
  return gzipPieces(pieces).then(
    (compressed) => sendGzip(context, status, contentType, compressed),
    (error: Error) => respondError(context, newInternalError(error)),
  );
}

/** Sends a compressed body unless the request was answered meanwhile. */
export function sendGzip(context: RequestContext, status: number, contentType: string, compressed: readonly Buffer[]): void {
  if (context.answered || context.exchange.closed) return;
  noteGzip(context);
  sendPieces(context, status, contentType, compressed, lengthOf(compressed));
}

/** Adds the headers of a compressed body. */
export function noteGzip({ headers }: RequestContext): void {
  headers.push('Content-Encoding', 'gzip');
  if (!headers.includes('Accept-Encoding')) headers.push('Vary', 'Accept-Encoding');
}

/** Sends a body that is produced as the client reads it. `total` is its number of bytes; undefined if it is not known yet. */
export function sendAsMade(context: RequestContext, contentType: string, pieces: AsyncIterable<Buffer>, total: number | undefined): void {
  const { audit, exchange } = context;
  const headers = startHeaders(context, 200, contentType);
  context.responseBytes = total ?? 0;
  if (total !== undefined) pushContentLength(headers, 200, total);
  const send = (): void => void writeAsMade(exchange, exchange.open(200, headers, 'list'), pieces);
  if (audit) completedBy(audit, exchange, send);
  else send();
}

/** Sends the buffers of a body of `total` bytes unchanged. */
function sendPieces(context: RequestContext, status: number, contentType: string, pieces: readonly Buffer[], total: number): void {
  const headers = startHeaders(context, status, contentType);
  context.responseBytes = total;
  const { audit, exchange } = context;
  if (!audit) return exchange.sendPieces(status, headers, pieces, total);
  completedBy(audit, exchange, () => exchange.sendPieces(status, headers, pieces, total));
}

function lengthOf(pieces: readonly Buffer[]): number {
  let total = 0;
  for (const { length } of pieces) total += length;
  return total;
}

export function acceptsGzip(context: RequestContext): boolean {
  return context.compresses && (context.header('accept-encoding') ?? '').split(',').some((encoding) => encoding.trim() === 'gzip');
}

/** A chunk of this size is sent on by itself, without a copy. */
const largeChunkBytes = 4 * 1024;

/** Relays the body of another server's response with backpressure. Small chunks that were read together are sent on as one. */
export function sendOn(answer: IncomingMessage, stream: ResponseStream): void {
  const merged = new MergedBytes();
  const sendMerged = (): void => {
    if (merged.length > 0 && !answer.errored && !stream.write(merged.take())) answer.pause();
  };
  stream.onDrain(() => answer.resume());
  answer.on('data', (bytes: Buffer) => {
    if (bytes.length >= largeChunkBytes && merged.length === 0) {
      if (!stream.write(bytes)) answer.pause();
      return;
    }
    // node:http parses all chunks that it has read before the next tick.
    if (merged.length === 0) process.nextTick(sendMerged);
    merged.append(bytes);
  });
  answer.once('end', () => {
    sendMerged();
    stream.end();
  });
  answer.once('aborted', () => stream.abort());
  answer.once('error', () => stream.abort());
}

/** Sends a Status with its own code in the negotiated media type. A Status with many errors is encoded in chunks. */
export function respondStatus(context: RequestContext, status: Status): void {
  context.audit?.responseStatus(status);
  context.trace?.failed(status.message ?? '');
  if (status.details?.retryAfterSeconds) context.headers.push('Retry-After', String(status.details.retryAfterSeconds));
  if (!needsSteps(status.message?.length ?? 0)) return sendStatus(context, status, encodeLine(statusType(), status));
  const send = (line: Buffer): void => {
    if (!context.answered && !context.exchange.closed) sendStatus(context, status, line);
  };
  inSteps(largeStatus(status)).then(send, (error: unknown) => respondError(context, newInternalError(error as Error)));
}

const statusType = (): StructType => metaSchema.struct('meta_v1.Status');

function* largeStatus(status: Status): Steps<Buffer> {
  // The work that found the errors was a step of its own.
  yield;
  const line = yield* encodeLineSteps(statusType(), status);
  yield;
  return line;
}

function sendStatus(context: RequestContext, status: Status, line: Buffer): void {
  // Upstream sends a Status without a kind as JSON without a media type, for which Go guesses one.
  if (status.kind === '') return respondBytes(context, status.code, 'text/plain; charset=utf-8', line);
  let negotiated: Negotiated;
  try {
    const { mediaTypes = plainRestrictions.mediaTypes } = context;
    negotiated = negotiate(context.header('accept'), { ...plainRestrictions, mediaTypes });
  } catch {
    return respondBytes(context, status.code, 'application/json', Buffer.from(indentJson(line.toString('utf8', 0, line.length - 1))));
  }
  respondJson(context, status.code, line, negotiated, statusType());
}

/** Sends an error. Errors that are no API errors are rethrown to the panic recovery. */
export function respondError(context: RequestContext, error: unknown): void {
  const translated = toStatusError(error);
  if (!translated) throw error;
  if (error instanceof RouteError) context.measured = undefined;
  if (context.answered) return;
  if (context.exchange.closed) recordUnsent(context, error instanceof ClientGoneError ? abandoned(context) : translated.status);
  else respondStatus(context, translated.status);
}

/** Returns the error of a request whose client disconnected before its body was complete. */
function abandoned({ exchange }: RequestContext): Status {
  return newStatus(500, '', exchange.protocol === 'HTTP/1.1' ? 'unexpected EOF' : 'client disconnected');
}

/** Records an error that no client receives: without it, the audit event would be that of a success. */
function recordUnsent({ audit }: RequestContext, status: Status): void {
  audit?.responseStatus(status);
  if (audit?.recordsResponse) audit.responseObject(encodeLine(statusType(), status));
}

const programmingErrors = [TypeError, RangeError, ReferenceError, SyntaxError, URIError, EvalError];

/**
 * Returns the Status of an error. Like upstream, it converts other errors to a 500 with their message; undefined for programming
 * errors (TypeError and the like), whose text no client should see.
 */
export function toStatusError(error: unknown): StatusError | undefined {
  if (error instanceof StatusError) return error;
  if (error instanceof BodyTooLargeError) return newRequestEntityTooLargeError(`limit is ${error.limit}`);
  if (error instanceof UnknownOutcomeError) return newTimeoutError(`the outcome of the request is unknown: ${error.message}`, 0);
  if (error instanceof NoSpaceError || (error instanceof StorageError && !(error instanceof ConflictError))) return newInternalError(error);
  if (error instanceof Error && !programmingErrors.some((type) => error instanceof type))
    return new StatusError({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message: error.message, code: 500 });
  return undefined;
}
