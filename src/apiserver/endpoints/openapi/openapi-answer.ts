import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { V3Document } from '#apimachinery/openapi/swagger';
import { isJsonObject } from '#apimachinery/patch/own-property';
import { encodeRawJson } from '#apimachinery/runtime/json/json';
import type { Steps } from '#apimachinery/runtime/steps';

/** A response body ready to be sent. */
export interface OpenApiAnswer {
  readonly pieces: readonly Buffer[];
  /** Total size in bytes. */
  readonly size: number;
  /** ETag without quotes; also the `hash` in the index. */
  readonly etag: string;
  /** Creation time for Last-Modified. */
  readonly modified: string;
}

/** Minimum size of a piece; smaller buffers are joined. */
const pieceBytes = 128 * 1024;

/** Joins small buffers to pieces and yields after each buffer. `onPiece` is called with each piece and its buffers. */
export function* toAnswer(
  parts: Iterable<Buffer>,
  onPiece: (piece: Buffer, parts: readonly Buffer[]) => void = () => undefined,
): Steps<OpenApiAnswer> {
  const hash = createHash('sha512');
  const pieces: Buffer[] = [];
  let size = 0;
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  const flush = (): void => {
    const piece = Buffer.concat(pending, pendingBytes);
    hash.update(piece);
    pieces.push(piece);
    onPiece(piece, pending);
    size += pendingBytes;
    pending = [];
    pendingBytes = 0;
  };
  for (const part of parts) {
    pending.push(part);
    pendingBytes += part.length;
    if (pendingBytes >= pieceBytes) flush();
    yield;
  }
  if (pendingBytes > 0) flush();
  return { pieces, size, etag: hash.digest('hex').toUpperCase(), modified: new Date().toUTCString() };
}

/** Encodes an OpenAPI 3.0 document, in separate buffers for paths and schemas. */
export function documentAnswer({ swagger: _, swaggerSchema: __, ...shown }: V3Document): Steps<OpenApiAnswer> {
  return toAnswer(jsonParts(shown, 3));
}

/** Yields the JSON of an object, with separate buffers for the members of its first levels. */
export function* jsonParts(value: unknown, levels: number): Generator<Buffer, void, void> {
  if (levels === 0 || !isJsonObject(value)) {
    yield Buffer.from(escapeHtml(encodeRawJson(value)));
    return;
  }
  let separator = '{';
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue;
    yield Buffer.from(`${separator}${escapeHtml(JSON.stringify(key))}:`);
    yield* jsonParts(member, levels - 1);
    separator = ',';
  }
  yield Buffer.from(separator === '{' ? '{}' : '}');
}

/** Escapes texts like Go's encoding/json. */
function escapeHtml(json: string): string {
  return json.replace(/[<>&\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
