import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { V3Document } from '#apimachinery/openapi/swagger';
import { isJsonObject } from '#apimachinery/patch/own-property';
import { encodeRawJson } from '#apimachinery/runtime/json/json';
import type { Steps } from '#apimachinery/runtime/steps';

/** An answer that is ready to be sent. */
export interface OpenApiAnswer {
  readonly pieces: readonly Buffer[];
  /** Of all pieces, in bytes. */
  readonly size: number;
  /** Without its quotes; it is also the `hash` of the index. */
  readonly etag: string;
  /** When it was made, as Last-Modified has it. */
  readonly modified: string;
}

/** What is smaller is sent together with what follows it. */
const pieceBytes = 128 * 1024;

/** Puts small buffers together to pieces, one step for each. `onPiece`: told what a piece was made of. */
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

/** A document of OpenAPI 3.0 as it is sent: path by path and schema by schema. */
export function documentAnswer({ swagger: _, swaggerSchema: __, ...shown }: V3Document): Steps<OpenApiAnswer> {
  return toAnswer(jsonParts(shown, 3));
}

/** The JSON of an object, the members of its first levels one by one. */
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

/** As Go's encoding/json writes texts. */
function escapeHtml(json: string): string {
  return json.replace(/[<>&\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
