/**
 * Objects as protobuf: in the envelope of the API (`k8s\0` and a runtime.Unknown with kind and apiVersion), as items of lists, as frames of
 * watches. Upstream: apimachinery/pkg/runtime/serializer/protobuf, and the generated marshalers of each type.
 */
import { Buffer } from 'node:buffer';
import { metaSchema } from '#apimachinery/meta/schema/schema';
import type { KubeObject } from '#apimachinery/meta/types';
import { DecodeError, rememberRawJsonSteps } from '../json/json.ts';
import { type MessageCodec, messageCodec, pause, resetMessages } from './protobuf-message.ts';
import { valuesOfStep } from './protobuf-values.ts';
import {
  hasMore,
  lengthOfWritten,
  readBytes,
  readString,
  readVarint,
  enterPart,
  leavePart,
  skipValue,
  startReading,
  startWriting,
  takeWritten,
  Wire,
  writeRaw,
  writeString,
  writeVarint,
  writtenBytes,
} from './protobuf-wire.ts';
import type { StructType } from '../schema.ts';
import { atOnce, type Steps } from '../steps.ts';

const magic = Buffer.from('k8s\0');
const tag1 = 0x0a;
const tag2 = 0x12;
const tag3 = 0x1a;
const tag4 = 0x22;

interface Identity {
  readonly apiVersion: string;
  readonly kind: string;
}

/** True if the bytes start with the prefix of the API's protobuf. */
export function isProtobuf(bytes: Buffer): boolean {
  return bytes.length >= magic.length && bytes.compare(magic, 0, magic.length, 0, magic.length) === 0;
}

/** True if nothing follows the prefix. */
export function hasEmptyBody(bytes: Buffer): boolean {
  return bytes.length === magic.length && isProtobuf(bytes);
}

/** Returns kind and apiVersion of the envelope; empty if absent. Throws DecodeError. */
export function protobufKind(bytes: Buffer): { apiVersion: string; kind: string } {
  return atOnce(protobufKindSteps(bytes));
}

/** Like `protobufKind`, but yields to the event loop. */
export function* protobufKindSteps(bytes: Buffer): Steps<{ apiVersion: string; kind: string }> {
  const { apiVersion, kind } = yield* openEnvelope(bytes);
  return { apiVersion, kind };
}

/**
 * Decodes an enveloped object into the form of its decoded JSON, with kind and apiVersion of the envelope. Unknown fields are skipped.
 * Throws DecodeError for a malformed message, and for a type without a protobuf form.
 */
export function decodeProtobuf(type: StructType, bytes: Buffer): object {
  const { codec, object } = atOnce(beginDecoding(type, bytes));
  return codec.readBody(object);
}

/** Like `decodeProtobuf`, but yields to the event loop. */
export function* decodeProtobufSteps(type: StructType, bytes: Buffer): Steps<object> {
  const { codec, object } = yield* beginDecoding(type, bytes);
  return yield* codec.readBodySteps(object);
}

function* beginDecoding(
  type: StructType,
  bytes: Buffer,
): Steps<{ readonly codec: MessageCodec; readonly object: Record<string, unknown> }> {
  const { apiVersion, kind, raw } = yield* openEnvelope(bytes);
  const codec = messageCodec(type);
  if (!codec) throw new DecodeError(`object *${type.goName} does not implement the protobuf marshalling interface and cannot be decoded`);
  resetMessages();
  startReading(raw);
  const object: Record<string, unknown> = {};
  if (kind !== '') object['kind'] = kind;
  if (apiVersion !== '') object['apiVersion'] = apiVersion;
  return { codec, object };
}

function* openEnvelope(bytes: Buffer): Steps<Identity & { readonly raw: Buffer }> {
  if (!isProtobuf(bytes)) throw new DecodeError('provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]');
  startReading(bytes.subarray(magic.length));
  let apiVersion = '';
  let kind = '';
  let raw: Buffer = bytes.subarray(0, 0);
  for (let count = 1; hasMore(); count += 1) {
    if (count % valuesOfStep === 0) yield* pause();
    const tag = readEnvelopeTag('Unknown', ['TypeMeta', 'Raw', 'ContentEncoding', 'ContentType']);
    if (tag === tag1) {
      const outer = enterPart();
      for (; hasMore(); count += 1) {
        if (count % valuesOfStep === 0) yield* pause();
        const inner = readEnvelopeTag('TypeMeta', ['APIVersion', 'Kind']);
        if (inner === tag1) apiVersion = readString();
        else if (inner === tag2) kind = readString();
        else skipValue(inner & 7);
      }
      leavePart(outer);
    } else if (tag === tag2) raw = readBytes();
    else skipValue(tag & 7);
  }
  return { apiVersion, kind, raw };
}

/** Reads the tag of a field of a message, of which the first fields have a length and these names. */
function readEnvelopeTag(message: string, fields: readonly string[]): number {
  const tag = readVarint();
  const [number, wire] = [Math.floor(tag / 8), tag & 7];
  if (wire === Wire.EndGroup) throw new DecodeError(`proto: ${message}: wiretype end group for non-group`);
  if (number === 0) throw new DecodeError(`proto: ${message}: illegal tag 0 (wire type ${wire})`);
  const name = fields[number - 1];
  if (name !== undefined && wire !== Wire.Length) throw new DecodeError(`proto: wrong wireType = ${wire} for field ${name}`);
  return tag;
}

/** Encodes an object with its envelope. Throws for a type without a protobuf form, which content negotiation excludes. */
export function encodeProtobuf(type: StructType, object: unknown): Buffer {
  start();
  writeEnveloped(type, object as Identity);
  return takeWritten();
}

/**
 * Returns the length of the `encodeProtobuf` of a large object, and yields to the event loop; undefined for a type without a protobuf form.
 * The object must not change meanwhile.
 */
export function* protobufLengthSteps(type: StructType, object: KubeObject): Steps<number | undefined> {
  const codec = messageCodec(type);
  if (!codec) return undefined;
  yield* prepareProtobufSteps(object);
  const body = yield* codec.bodyLengthSteps(object as unknown as Record<string, unknown>);
  return lengthOfWritten(() => writeEnvelopeHead(object, body)) + body + envelopeEnd.length;
}

/**
 * Caches the slowest part of encoding a large object, the JSON of its managed fields, and yields to the event loop. The object must not
 * change any more.
 */
export function* prepareProtobufSteps({ metadata }: Partial<KubeObject>): Steps<void> {
  for (const { fieldsV1 } of metadata?.managedFields ?? []) if (fieldsV1) yield* rememberRawJsonSteps(fieldsV1);
}

/** Encodes an object as an item of a list: its message as the list's field. */
export function encodeProtobufListItem(type: StructType, object: unknown, list: Identity): Buffer {
  start();
  codecOf(type).write(object);
  writeVarint(hasItemsFirst(list) ? tag1 : tag2);
  return takeWritten();
}

/** True for the only list kind whose items field comes first. */
function hasItemsFirst({ kind, apiVersion }: Identity): boolean {
  return kind === 'PartialObjectMetadataList' && apiVersion === 'meta.k8s.io/v1beta1';
}

/**
 * Returns the bytes before and after the items of an enveloped list. `itemBytes` is the total size of the `encodeProtobufListItem` results.
 */
export function protobufAroundItems(
  listMeta: StructType,
  list: Identity & { readonly metadata: object },
  itemBytes: number,
): { readonly head: Buffer; readonly end: Buffer } {
  const itemsFirst = hasItemsFirst(list);
  start();
  codecOf(listMeta).write(list.metadata);
  writeVarint(itemsFirst ? tag2 : tag1);
  const metadata = takeWritten();
  start();
  writeEnvelopeHead(list, metadata.length + itemBytes);
  const head = takeWritten();
  return itemsFirst ? { head, end: Buffer.concat([metadata, envelopeEnd]) } : { head: Buffer.concat([head, metadata]), end: envelopeEnd };
}

/**
 * Encodes a watch frame: its length in four bytes, and a WatchEvent with the enveloped object. An `ERROR` has a Status, regardless of
 * `type`.
 */
export function encodeProtobufWatchEvent(type: StructType, event: string, object: unknown): Buffer {
  start();
  writeEnveloped(event === 'ERROR' ? metaSchema.struct('meta_v1.Status') : type, object as Identity);
  writeVarint(writtenBytes());
  writeVarint(tag1);
  writeVarint(writtenBytes());
  writeVarint(tag2);
  writeString(event);
  writeVarint(tag1);
  const length = Buffer.allocUnsafe(4);
  length.writeUInt32BE(writtenBytes());
  writeRaw(length);
  return takeWritten();
}

function start(): void {
  resetMessages();
  startWriting();
}

function codecOf(type: StructType): MessageCodec {
  const codec = messageCodec(type);
  if (!codec) throw new Error(`protobuf: ${type.name} has no message`);
  return codec;
}

/** Fields of Unknown after `raw`: empty contentEncoding and contentType. */
const envelopeEnd = Buffer.from([tag3, 0, tag4, 0]);

function writeEnveloped(type: StructType, object: Identity): void {
  writeRaw(envelopeEnd);
  const before = writtenBytes();
  codecOf(type).writeBody(object as unknown as Record<string, unknown>);
  writeEnvelopeHead(object, writtenBytes() - before);
}

function writeEnvelopeHead({ apiVersion, kind }: Identity, rawLength: number): void {
  writeVarint(rawLength);
  writeVarint(tag2);
  const before = writtenBytes();
  writeString(kind ?? '');
  writeVarint(tag2);
  writeString(apiVersion ?? '');
  writeVarint(tag1);
  writeVarint(writtenBytes() - before);
  writeVarint(tag1);
  writeRaw(magic);
}
