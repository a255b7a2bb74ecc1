import { Buffer } from 'node:buffer';
import { newStatus, StatusError } from '#apimachinery/api/errors';
import { metaSchema } from '#apimachinery/meta/schema/schema';
import type { KubeObject } from '#apimachinery/meta/types';
import { encode } from '#apimachinery/runtime/encode';
import { fromStorage, type ResourceEndpoint, type StoredObject } from './resource-endpoint.ts';

const metadataKey = Buffer.from('"metadata":');

/**
 * Returns the error of a request for object metadata of a list or list metadata of an object. Upstream: asPartialObjectMetadata in
 * endpoints/handlers/response.go.
 */
export function newWrongPartial({ definition, subresource, kinds, kind, store }: ResourceEndpoint, wanted: string, isList: boolean): Error {
  // Upstream takes an unstructured object for a list, and then finds no items in it.
  if (definition.custom && !isList && subresource !== 'scale') return new Error('content is not a list');
  const shown =
    subresource === 'scale' ? kind : { ...kind, group: store.groupKind.group, kind: isList ? definition.listKind : definition.kind };
  const customName = isList ? 'unstructured.UnstructuredList' : 'v1.Scale';
  const goName = definition.custom ? customName : kinds.internalName(shown);
  return new StatusError(
    newStatus(406, 'NotAcceptable', `you requested ${wanted}, but the requested object is ${isList ? 'a' : 'not a'} list (*${goName})`),
  );
}

/** Encodes the metadata of an object as PartialObjectMetadata. */
export function encodePartial(object: KubeObject, version: string): string {
  return encode(metaSchema.struct('meta_v1.PartialObjectMetadata'), {
    kind: 'PartialObjectMetadata',
    apiVersion: `meta.k8s.io/${version}`,
    metadata: object.metadata,
  });
}

/** Like `rowPartial`, but cuts the metadata from the stored bytes if the stored form is the served one. */
export function partialBytes(endpoint: ResourceEndpoint, object: StoredObject, version: string): Buffer {
  const { custom, internalAnnotations } = endpoint.definition;
  if (!custom && (endpoint.conversion || internalAnnotations))
    return Buffer.from(rowPartial(endpoint, object.object, object.object, version));
  const metadata = endpoint.conversion ? undefined : metadataOf(object.bytes, endpoint.itemPrefix);
  if (!metadata) return Buffer.from(encodePartial(fromStorage(endpoint, object.object), version));
  const head = Buffer.from(`{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/${version}","metadata":`);
  return Buffer.concat([head, metadata, Buffer.from('}')]);
}

/** Returns the value of `metadata` if it is at `start`, as in all objects encoded by their schema. */
function metadataOf(bytes: Buffer, start: number): Buffer | undefined {
  const begin = start + metadataKey.length;
  if (start === 0 || bytes.compare(metadataKey, 0, metadataKey.length, start, begin) !== 0) return undefined;
  let depth = 0;
  for (let i = begin; i < bytes.length; i++) {
    const byte = bytes[i];
    if (byte === 0x22) {
      for (i++; bytes[i] !== 0x22; i++) if (bytes[i] === 0x5c) i++;
    } else if (byte === 0x7b) depth++;
    else if (byte === 0x7d && --depth === 0) return bytes.subarray(begin, i + 1);
  }
  return undefined;
}

/**
 * Encodes the metadata of an object of the storage version, shown as `shown`. For built-in kinds it is that of upstream's internal object,
 * in which some annotations are fields.
 */
export function rowPartial({ definition }: ResourceEndpoint, object: KubeObject, shown: KubeObject, version: string): string {
  if (definition.custom) return encodePartial(shown, version);
  return encodePartial(withoutAnnotations(object, definition.internalAnnotations ?? []), version);
}

function withoutAnnotations(object: KubeObject, names: readonly string[]): KubeObject {
  const { annotations } = object.metadata;
  if (!annotations || !names.some((name) => Object.hasOwn(annotations, name))) return object;
  const rest = Object.fromEntries(Object.entries(annotations).filter(([name]) => !names.includes(name)));
  return { ...object, metadata: { ...object.metadata, annotations: rest } };
}
