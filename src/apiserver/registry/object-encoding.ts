import { Buffer } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import type { KubeObject } from '#apimachinery/meta/types';
import { parseStored } from '#apimachinery/managedfields/stored-object';
import { encodeLine, encodeLineSteps } from '#apimachinery/runtime/encode';
import { parseJsonSteps } from '#apimachinery/runtime/json/json';
import { dropNullFields } from '#apimachinery/runtime/null-fields';
import { protobufLengthSteps } from '#apimachinery/runtime/protobuf/protobuf';
import { hasRawContent } from '#apimachinery/runtime/raw-content';
import type { StructType } from '#apimachinery/runtime/schema';
import type { Pace } from '#apimachinery/runtime/pace';
import { atOnce, type Steps } from '#apimachinery/runtime/steps';
import type { Encode, Revision } from '#apiserver/storage/storage';

/** Placeholder for the revision in the encoding of a large object, unguessable for clients. */
const placeholder = `revision ${randomUUID()}`;

/**
 * etcd's limit for a request (--max-request-bytes) and its client's limit for a message. A store with a higher limit would
 * accept objects that fail on a real cluster.
 */
const maxRequestBytes = 1.5 * 1024 * 1024;
const maxMessageBytes = 2 * 1024 * 1024;
/** An object that is encoded at one revision and can be encoded at others. */
export interface EncodedObject {
  readonly bytes: Buffer;
  readonly at: Encode;
}

/**
 * The stored encoding of a resource's objects: JSON in the field order of its type, with the revision and a trailing
 * newline.
 */
export class ObjectEncoding {
  readonly #type: StructType;
  /** False if the kind's fields have no defined order, so that metadata may be anywhere in the encoding. */
  readonly #isOrdered: boolean;
  readonly #isCustom: boolean;

  /** `custom` is true for kinds of a CustomResourceDefinition. */
  constructor(type: StructType, custom: boolean) {
    this.#type = type;
    this.#isOrdered = !custom;
    this.#isCustom = custom;
  }

  /**
   * Returns the error with which etcd would reject an object; undefined if it is storable. `bytes` is the size of its JSON;
   * upstream stores built-in kinds as protobuf, which is no larger. The object must not change during the steps.
   */
  *refusalSteps(object: KubeObject, bytes: number): Steps<Error | undefined> {
    if (bytes <= maxRequestBytes) return undefined;
    const size = (this.#isCustom ? undefined : yield* protobufLengthSteps(this.#type, withoutRevision(object))) ?? bytes;
    if (size > maxMessageBytes)
      return new Error(
        `rpc error: code = ResourceExhausted desc = trying to send message larger than max (${size} vs. ${maxMessageBytes})`,
      );
    return size > maxRequestBytes ? new Error('etcdserver: request is too large') : undefined;
  }

  /** A synchronous variant for objects whose request was small. */
  refusal(object: KubeObject, bytes: number): Error | undefined {
    return bytes <= maxRequestBytes ? undefined : atOnce(this.refusalSteps(object, bytes));
  }

  parse(bytes: Buffer): KubeObject {
    return this.#decoded(parseStored(bytes, !this.#isCustom && hasRawContent(this.#type)), bytes);
  }

  #decoded(object: KubeObject, bytes: Buffer): KubeObject {
    if (!this.#isCustom && bytes.includes('":null')) dropNullFields(this.#type, object);
    return object;
  }

  /** Parses an object at a pace. */
  parseAt(pace: Pace, bytes: Buffer): KubeObject | Promise<KubeObject> {
    return pace.either(
      () => this.parse(bytes),
      () => this.#parseSteps(bytes),
    );
  }

  *#parseSteps(bytes: Buffer): Steps<KubeObject> {
    return this.#decoded((yield* parseJsonSteps(bytes)).value as KubeObject, bytes);
  }

  encode(object: KubeObject): Buffer {
    return encodeLine(this.#type, object);
  }

  /** Encodes an object at a pace. The object must not change meanwhile. */
  encodeAt(pace: Pace, object: KubeObject): Buffer | Promise<Buffer> {
    return pace.either(
      () => this.encode(object),
      () => encodeLineSteps(this.#type, object),
    );
  }

  /** Encodes an object at a revision, at a pace. The object must not change meanwhile, except for its revision. */
  encodeRevision(pace: Pace, object: KubeObject, revision: Revision): EncodedObject | Promise<EncodedObject> {
    if (!pace.isImmediate) return this.#encodeLarge(pace, object, revision);
    object.metadata.resourceVersion = String(revision);
    const bytes = this.encode(object);
    return { bytes, at: (next) => this.#encodeAgain(object, bytes, revision)(next) };
  }

  async #encodeLarge(pace: Pace, object: KubeObject, revision: Revision): Promise<EncodedObject> {
    object.metadata.resourceVersion = placeholder;
    const encoded = await this.encodeAt(pace, object);
    const at = withRevision(object, encoded, encoded.indexOf(placeholder), placeholder.length);
    return { bytes: at(revision), at };
  }

  /** Replaces the revision in an encoding. */
  #encodeAgain(object: KubeObject, encoded: Buffer, revision: Revision): Encode {
    const field = '"resourceVersion":"';
    const at = this.#isOrdered ? encoded.indexOf(`${field}${revision}"`) : -1;
    if (at >= 0) return withRevision(object, encoded, at + field.length, String(revision).length);
    return (next) => {
      object.metadata.resourceVersion = String(next);
      return this.encode(object);
    };
  }

  /**
   * True if a write would change only the times in managedFields, so that it can be skipped. `encoded` is the new encoding,
   * `bytes` the stored one; all times have the same length. Upstream: endpoints/handlers/fieldmanager/equality.go.
   */
  onlyTimesDiffer(object: KubeObject, existing: KubeObject, encoded: Buffer, bytes: Buffer): boolean {
    if (encoded.length !== bytes.length) return false;
    const fields = object.metadata.managedFields;
    const old = existing.metadata.managedFields;
    if (!fields || !old || fields.length !== old.length || fields.every((entry, at) => entry.time === old[at]?.time)) return false;
    if (!isWithinTimes(encoded, bytes)) return false;
    const managedFields = fields.map((entry, at) => ({ ...entry, time: old[at]?.time ?? '' }));
    return this.encode({ ...object, metadata: { ...object.metadata, managedFields } }).equals(bytes);
  }
}

/** Returns the object without its revision, as upstream stores it; etcd keeps the revision with the key. */
function withoutRevision(object: KubeObject): KubeObject {
  const { resourceVersion: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** Returns an encoder that writes the revision at position `at` of an encoding and into the object. */
function withRevision(object: KubeObject, encoded: Buffer, at: number, length: number): Encode {
  const head = encoded.subarray(0, at);
  const tail = encoded.subarray(at + length);
  return (revision) => {
    object.metadata.resourceVersion = String(revision);
    return Buffer.concat([head, Buffer.from(object.metadata.resourceVersion), tail]);
  };
}

/** True if the first and the last differing byte of two encodings of the same length can be part of a managedFields time. */
function isWithinTimes(encoded: Buffer, bytes: Buffer): boolean {
  let first = 0;
  while (first < encoded.length && encoded[first] === bytes[first]) first += 1;
  if (!isInTime(encoded, first)) return false;
  let last = encoded.length - 1;
  while (last > first && encoded[last] === bytes[last]) last -= 1;
  return isInTime(encoded, last);
}

function isInTime(encoded: Buffer, at: number): boolean {
  const time = '"time":"2006-01-02T15:04:05Z';
  return encoded.toString('latin1', Math.max(0, at - time.length + 1), at).includes('"time":"');
}
