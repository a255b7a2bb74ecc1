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
import { atOnce, inSteps, type Steps } from '#apimachinery/runtime/steps';
import type { Encode, Revision } from '#apiserver/storage/storage';

/** Stands for the revision in the encoding of a large object. No client can know it. */
const placeholder = `revision ${randomUUID()}`;

/** What etcd takes (--max-request-bytes), and what its client sends to it. A store that takes more would hide what fails on a real cluster. */
const maxRequestBytes = 1.5 * 1024 * 1024;
const maxMessageBytes = 2 * 1024 * 1024;
/** A large object, encoded but for its revision. */
export interface EncodedObject {
  readonly at: Encode;
  readonly bytes: number;
}

/** The stored form of the objects of one resource: JSON in the order of its type, with an ending newline and the revision in it. */
export class ObjectEncoding {
  readonly #type: StructType;
  /** Where the kind's fields have no order of their own, an object's metadata may be anywhere in its encoding. */
  readonly #isOrdered: boolean;
  readonly #isCustom: boolean;

  /** `custom`: of a CustomResourceDefinition. */
  constructor(type: StructType, custom: boolean) {
    this.#type = type;
    this.#isOrdered = !custom;
    this.#isCustom = custom;
  }

  /**
   * Why no store should hold an object, as kube-apiserver has it from etcd; undefined where it may. `bytes`: of its JSON. Upstream stores
   * kinds of its own as protobuf, which is no longer. The object must not change meanwhile.
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

  /** The same at once, of an object that was small when it came. */
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

  /** The same of a large object, between whose parts others run. */
  async parseInSteps(bytes: Buffer): Promise<KubeObject> {
    return this.#decoded((await inSteps(parseJsonSteps(bytes))).value as KubeObject, bytes);
  }

  encode(object: KubeObject): Buffer {
    return encodeLine(this.#type, object);
  }

  /** `encode` of a large object in steps. It must not change meanwhile. */
  encodeWholeInSteps(object: KubeObject): Promise<Buffer> {
    return inSteps(encodeLineSteps(this.#type, object));
  }

  /** Encodes a large object in steps, but for its revision, which is put in later. The object must not change meanwhile. */
  async encodeInSteps(object: KubeObject): Promise<EncodedObject> {
    object.metadata.resourceVersion = placeholder;
    const encoded = await this.encodeWholeInSteps(object);
    return { at: withRevision(object, encoded, encoded.indexOf(placeholder), placeholder.length), bytes: encoded.length };
  }

  /** Encodes at another revision what was encoded at this one. */
  encodeAgain(object: KubeObject, encoded: Buffer, revision: Revision): Encode {
    const field = '"resourceVersion":"';
    const at = this.#isOrdered ? encoded.indexOf(`${field}${revision}"`) : -1;
    if (at >= 0) return withRevision(object, encoded, at + field.length, String(revision).length);
    return (next) => {
      object.metadata.resourceVersion = String(next);
      return this.encode(object);
    };
  }

  /**
   * A write that would only move managedFields' times is none. `encoded` is the object as it would be stored, `bytes` what is;
   * times are all of one length. Upstream: endpoints/handlers/fieldmanager/equality.go.
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

/** What upstream stores: the revision is that of the key in etcd. */
function withoutRevision(object: KubeObject): KubeObject {
  const { resourceVersion: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** Puts revisions in the place of what is at `at` of an encoding, and in the object. */
function withRevision(object: KubeObject, encoded: Buffer, at: number, length: number): Encode {
  const head = encoded.subarray(0, at);
  const tail = encoded.subarray(at + length);
  return (revision) => {
    object.metadata.resourceVersion = String(revision);
    return Buffer.concat([head, Buffer.from(object.metadata.resourceVersion), tail]);
  };
}

/** Whether the first and the last byte in which two encoded objects of one length differ may be ones of a time of managedFields. */
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
