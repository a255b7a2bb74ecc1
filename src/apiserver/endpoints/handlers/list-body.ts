import { Buffer } from 'node:buffer';
import { metaSchema } from '#apimachinery/meta/schema/schema';
import type { ListMeta } from '#apimachinery/meta/types';
import { encode } from '#apimachinery/runtime/encode';
import { cborList, encodeCborListItem } from '#apimachinery/runtime/cbor/cbor';
import { encodeJson, parseEncoded } from '#apimachinery/runtime/json/json';
import { encodeProtobufListItem, protobufAroundItems } from '#apimachinery/runtime/protobuf/protobuf';
import type { Steps } from '#apimachinery/runtime/steps';
import type { CachedObject } from '#apiserver/storage/cacher/cached-object';
import type { CacheList } from '#apiserver/storage/cacher/list-query';
import { parseObject, prepareProtobuf } from './large-objects.ts';
import { type Run, runsOf } from './list-runs.ts';
import { partialBytes } from './partial.ts';
import { fromStorage, type ResourceEndpoint } from './resource-endpoint.ts';
import { cborType } from './responses.ts';

export const comma = Buffer.from(',');
export const nothing = Buffer.alloc(0);
export const listEnd = Buffer.from(']}\n');
const brace = Buffer.from('{');

/** Type and metadata of the list in the response, and the cache variant of its items. */
export interface ListForm {
  readonly kind: string;
  readonly apiVersion: string;
  /** Version of PartialObjectMetadata; undefined for whole items. */
  readonly partial: string | undefined;
  readonly variant: string;
  readonly metadata: ListMeta;
}

/** A list as bytes: encoded runs, and the text around them. */
export interface ListBody {
  /** Run parameters; a getter if they depend on the time. */
  readonly run: Run;
  /** True if the bytes before or after the items depend on the size of the items. */
  readonly isSizeInHead?: true;
  /** Returns the bytes before and after the items. `itemBytes` is the size of all items with separators. */
  around(itemBytes: number): { readonly head: Buffer; readonly end: Buffer };
}

/** Returns the list as protobuf. */
export function protobufBody(endpoint: ResourceEndpoint, form: ListForm): ListBody {
  const { partial, variant } = form;
  const type = partial ? metaSchema.struct('meta_v1.PartialObjectMetadata') : endpoint.type;
  const makeItem = ({ object }: CachedObject): Buffer => {
    const shown = fromStorage(endpoint, object);
    return encodeProtobufListItem(type, partial ? { metadata: shown.metadata } : shown, form);
  };
  return {
    run: { variant: `protobuf:${variant}`, makeItem, separator: nothing, prepare: prepareProtobuf },
    isSizeInHead: true,
    around: (itemBytes) => protobufAroundItems(metaSchema.struct('meta_v1.ListMeta'), form, itemBytes),
  };
}

/** Encodes the items from their JSON, which contains every field that upstream writes. */
export function* cborPieces(endpoint: ResourceEndpoint, { chunks, count }: CacheList, form: ListForm): Steps<readonly Buffer[]> {
  const { variant, partial } = form;
  const type = partial ? metaSchema.struct('meta_v1.PartialObjectMetadata') : cborType(endpoint.type);
  const makeJson = jsonItemOf(endpoint, form);
  const makeItem = (object: CachedObject): Buffer => encodeCborListItem(type, parseEncoded(makeJson(object), true));
  const items = yield* runsOf(chunks, {
    variant: `cbor:${variant}`,
    makeItem,
    separator: nothing,
    prepare: endpoint.conversion && parseObject,
  });
  return cborList({ ...form, metadata: isMap(endpoint, form) ? { continue: '', ...form.metadata } : form.metadata }, items, count);
}

/** True if upstream builds the list as a map, as for custom resources: keys are sorted, and `continue` is always present. */
export function isMap({ definition }: ResourceEndpoint, { partial }: ListForm): boolean {
  return definition.custom !== undefined && !partial;
}

function jsonItemOf(endpoint: ResourceEndpoint, { partial }: ListForm): (object: CachedObject) => Buffer {
  return partial ? (object) => partialBytes(endpoint, object, partial) : itemOf(endpoint);
}

/** Returns the list as JSON. */
export function jsonBody(endpoint: ResourceEndpoint, { count }: CacheList, form: ListForm): ListBody {
  const { head, end } = aroundItems(endpoint, form);
  // Upstream encodes an empty converted list as null.
  const [open, close] = form.partial && count === 0 ? ['null', ''] : ['[', ']'];
  const around = { head: Buffer.from(`${head}${open}`), end: Buffer.from(`${close}${end}`) };
  return {
    run: { variant: form.variant, makeItem: jsonItemOf(endpoint, form), separator: comma, prepare: endpoint.conversion && parseObject },
    around: () => around,
  };
}

/** Returns the JSON before and after the items of a list. */
function aroundItems(endpoint: ResourceEndpoint, form: ListForm): { readonly head: string; readonly end: string } {
  const { kind, apiVersion, metadata } = form;
  if (isMap(endpoint, form)) {
    const end = `,"kind":"${kind}","metadata":${encodeJson({ continue: '', ...metadata })}}\n`;
    return { head: `{"apiVersion":"${apiVersion}","items":`, end };
  }
  const meta = encode(metaSchema.struct('meta_v1.ListMeta'), metadata);
  return { head: `{"kind":"${kind}","apiVersion":"${apiVersion}","metadata":${meta},"items":`, end: '}\n' };
}

/**
 * Returns the function that encodes an item. Items of built-in lists omit kind and apiVersion, which are a prefix of the stored
 * bytes.
 */
export function itemOf(endpoint: ResourceEndpoint): (object: CachedObject) => Buffer {
  const { itemPrefix, conversion, type } = endpoint;
  if (conversion) {
    return (object) => {
      const { kind: _, apiVersion: __, ...item } = conversion.fromStorage(object.object);
      return Buffer.from(encode(type, item));
    };
  }
  if (itemPrefix === 0) return ({ bytes }) => bytes.subarray(0, bytes.length - 1);
  return ({ bytes }) => Buffer.concat([brace, bytes.subarray(itemPrefix, bytes.length - 1)]);
}

/** Returns the whole list as buffers that the cache keeps. */
export function* piecesOf({ chunks }: CacheList, { run, around }: ListBody): Steps<Buffer[]> {
  const runs = separated(yield* runsOf(chunks, run), run.separator);
  const { head, end } = around(sum(runs, ({ length }) => length));
  return [head, ...runs, end];
}

/** Puts the separator between the runs. */
export function separated(runs: readonly Buffer[], separator: Buffer): readonly Buffer[] {
  return separator.length === 0 ? runs : runs.flatMap((run, i) => (i === 0 ? [run] : [separator, run]));
}

/** Adds the numbers of items. */
export function sum<T>(list: readonly T[], numberOf: (item: T) => number): number {
  let total = 0;
  for (const item of list) total += numberOf(item);
  return total;
}
