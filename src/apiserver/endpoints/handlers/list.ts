import { Buffer } from 'node:buffer';
import { Injectable } from '@nestjs/common';
import { metaSchema } from '#apimachinery/meta/schema/schema';
import { groupVersionString, type ListMeta } from '#apimachinery/meta/types';
import { encode } from '#apimachinery/runtime/codec';
import { encodeJson } from '#apimachinery/runtime/json';
import { encodeProtobufListItem, protobufList } from '#apimachinery/runtime/protobuf';
import type { StructType } from '#apimachinery/runtime/schema';
import type { RequestContext } from '#apiserver/endpoints/request/request-context';
import type { CachedObject } from '#apiserver/storage/cacher/cached-object';
import type { CacheList } from '#apiserver/storage/cacher/list-query';
import { negotiate, type Negotiated } from './negotiation.ts';
import { partialBytes } from './partial.ts';
import { parseListOptions } from './query-options.ts';
import { fromStorage, type ResourceEndpoint } from './resource-endpoint.ts';
import { acceptsGzip, inMediaType, respondBytes, respondCompressible, startHeaders, wantsPretty } from './responses.ts';
import { selectionOf } from './selection.ts';
import { columnsOf, encodeRow, tableHead, tableOptions } from './table.ts';

const comma = Buffer.from(',');
const nothing = Buffer.alloc(0);
const listEnd = Buffer.from(']}\n');
const brace = Buffer.from('{');
/** Smaller lists are sent as one buffer: fewer records and system calls. */
const joinBelowBytes = 128 * 1024;

/** GET of a collection. Upstream: endpoints/handlers/get.go (ListResource). */
@Injectable()
export class ListHandler {
  handle(context: RequestContext, endpoint: ResourceEndpoint): void | Promise<void> {
    const negotiated = negotiate(context.header('accept'), endpoint.restrictions);
    const options = parseListOptions(context.query);
    const { store, definition } = endpoint;
    const predicate = selectionOf(definition, options, '');
    const listed = store.cacher.list({
      scope: store.prefix(context.info.namespace),
      resourceVersion: options.resourceVersion,
      resourceVersionMatch: options.resourceVersionMatch,
      limit: options.limit,
      continue: options.continue,
      predicate,
    });
    return listed instanceof Promise
      ? listed.then((list) => respondList(context, endpoint, list, negotiated))
      : respondList(context, endpoint, listed, negotiated);
  }
}

/** Sends a list in the form that was negotiated, of encodings that the cache keeps where nothing of them depends on the time. */
export function respondList(context: RequestContext, endpoint: ResourceEndpoint, list: CacheList, negotiated: Negotiated): void {
  const { convert, mediaType } = negotiated;
  const metadata = metadataOf(list);
  if (convert?.kind === 'Table') return respondTable(context, endpoint, list, metadata, negotiated);
  const version = convert?.version;
  const kind = version ? 'PartialObjectMetadataList' : endpoint.definition.listKind;
  const groupVersion = groupVersionString(endpoint.kind);
  const apiVersion = version ? `meta.k8s.io/${version}` : groupVersion;
  const variant = version ? `partial:${version}:${groupVersion}` : groupVersion;
  if (mediaType === 'application/vnd.kubernetes.protobuf') {
    const type = version ? metaSchema.struct('meta_v1.PartialObjectMetadata') : endpoint.type;
    const items = list.chunks.map((chunk) =>
      chunk.encoded(
        `protobuf:${variant}`,
        (object) => encodeProtobufListItem(type, version ? partialOf(endpoint, object) : fromStorage(endpoint, object.object)),
        nothing,
      ),
    );
    const pieces = protobufList(metaSchema.struct('meta_v1.ListMeta'), { apiVersion, kind, metadata }, items);
    return respondPieces(context, mediaType, pieces);
  }
  const custom = endpoint.definition.custom !== undefined && !version;
  const head = Buffer.from(
    custom
      ? `{"apiVersion":"${apiVersion}","items":[`
      : `{"kind":"${kind}","apiVersion":"${apiVersion}","metadata":${encode(metaSchema.struct('meta_v1.ListMeta'), metadata)},"items":[`,
  );
  const end = custom ? Buffer.from(`],"kind":"${kind}","metadata":${encodeJson({ continue: '', ...metadata })}}\n`) : listEnd;
  const makeItem = version ? (object: CachedObject) => partialBytes(endpoint, object, version) : itemOf(endpoint);
  const runs = list.chunks.map((chunk) => chunk.encoded(variant, makeItem, comma));
  respondJson(context, negotiated, endpoint.type, [head, ...separated(runs), end]);
}

/** Built-in items do not repeat kind and apiVersion: what follows them in the stored bytes is the item. */
function itemOf(endpoint: ResourceEndpoint): (object: CachedObject) => Buffer {
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

function partialOf(endpoint: ResourceEndpoint, object: CachedObject): { metadata: unknown } {
  return { metadata: fromStorage(endpoint, object.object).metadata };
}

function metadataOf(list: CacheList): ListMeta {
  const metadata: ListMeta = { resourceVersion: String(list.revision) };
  if (list.continueToken) metadata.continue = list.continueToken;
  if (list.remainingItemCount !== undefined && list.remainingItemCount > 0) metadata.remainingItemCount = list.remainingItemCount;
  return metadata;
}

/** Ages are told in whole seconds: rows are the same to all who ask within one. */
function respondTable(
  context: RequestContext,
  endpoint: ResourceEndpoint,
  list: CacheList,
  metadata: ListMeta,
  negotiated: Negotiated,
): void {
  const options = tableOptions(context);
  const version = negotiated.convert?.version ?? 'v1';
  const variant = `table:${options.includeObject}:${version}:${groupVersionString(endpoint.kind)}`;
  const second = Math.floor(Date.now() / 1000);
  const { compareRows } = endpoint.definition;
  const makeRow = (object: CachedObject) => encodeRow(endpoint, object, options, version, second * 1000);
  const rows = compareRows
    ? list.chunks
        .flatMap(({ items }) => items)
        .sort((a, b) => compareRows(a.object, b.object))
        .map(makeRow)
    : list.chunks.map((chunk) => chunk.encoded(variant, makeRow, comma, second));
  const head = Buffer.from(tableHead(version, metadata, columnsOf(endpoint)));
  respondJson(context, negotiated, metaSchema.struct('meta_v1.Table'), [head, ...separated(rows), listEnd]);
}

/** Sends JSON, or what the client wants instead of it. */
function respondJson(context: RequestContext, negotiated: Negotiated, type: StructType, pieces: readonly Buffer[]): void {
  const { mediaType } = negotiated;
  if (mediaType === 'application/json' && !wantsPretty(context, negotiated)) return respondPieces(context, mediaType, pieces);
  respondCompressible(context, 200, mediaType, inMediaType(context, Buffer.concat(pieces), negotiated, type));
}

function separated(runs: readonly Buffer[]): Buffer[] {
  return runs.flatMap((run, i) => (i === 0 ? [run] : [comma, run]));
}

function respondPieces(context: RequestContext, mediaType: string, pieces: readonly Buffer[]): void {
  let total = 0;
  for (const piece of pieces) total += piece.length;
  if (total <= joinBelowBytes) return respondBytes(context, 200, mediaType, Buffer.concat(pieces, total));
  if (acceptsGzip(context)) return respondCompressible(context, 200, mediaType, Buffer.concat(pieces, total));
  context.exchange.sendPieces(200, startHeaders(context, 200, mediaType), pieces, total);
}
