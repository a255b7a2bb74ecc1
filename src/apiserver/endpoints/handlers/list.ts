import { Buffer } from 'node:buffer';
import { Injectable } from '@nestjs/common';
import { metaSchema } from '#apimachinery/meta/schema/schema';
import { groupVersionString, type KubeObject, type ListMeta } from '#apimachinery/meta/types';
import { encode } from '#apimachinery/runtime/encode';
import { cborList, encodeCborListItem } from '#apimachinery/runtime/cbor';
import { encodeJson, parseEncoded } from '#apimachinery/runtime/json';
import { encodeProtobufListItem, protobufList } from '#apimachinery/runtime/protobuf';
import type { StructType } from '#apimachinery/runtime/schema';
import { startSteps, type Steps } from '#apimachinery/runtime/steps';
import type { RequestContext } from '#apiserver/endpoints/request/request-context';
import type { CachedObject } from '#apiserver/storage/cacher/cached-object';
import type { CacheList, CacheListOptions } from '#apiserver/storage/cacher/list-query';
import type { ListChunk } from '#apiserver/storage/cacher/object-tree';
import { RecentRuns } from '#apiserver/storage/cacher/recent-runs';
import type { Store } from '#apiserver/registry/store';
import type { RequestSpan } from '#apiserver/tracing/tracer';
import { groupResourceString } from '#apimachinery/api/errors';
import { parseObject, type Prepare, prepareProtobuf } from './large-objects.ts';
import { negotiate, type Negotiated } from './negotiation.ts';
import { newWrongPartial, partialBytes } from './partial.ts';
import { parseListOptions } from './query-options.ts';
import { fromStorage, type ResourceEndpoint } from './resource-endpoint.ts';
import { acceptsGzip, cborType, respondInMediaType, respondPieces, respondWithin, sendPieces, wantsPretty } from './responses.ts';
import { selectionOf } from './selection.ts';
import { columnsOf, encodeRow, tableHead, tableOptions } from './table.ts';

const comma = Buffer.from(',');
const nothing = Buffer.alloc(0);
const listEnd = Buffer.from(']}\n');
const brace = Buffer.from('{');

/** GET of a collection. Upstream: endpoints/handlers/get.go (ListResource). */
@Injectable()
export class ListHandler {
  handle(context: RequestContext, endpoint: ResourceEndpoint): void | Promise<void> {
    const negotiated = negotiate(context.header('accept'), endpoint.restrictions, true);
    const options = parseListOptions(context.query);
    const { store, definition } = endpoint;
    const predicate = selectionOf(definition, options, '');
    const asked = {
      scope: store.prefix(context.info.namespace),
      resourceVersion: options.resourceVersion,
      resourceVersionMatch: options.resourceVersionMatch,
      limit: options.limit,
      continue: options.continue,
      predicate,
    };
    const listed = context.span ? listWithin(context.span, store, asked) : store.cacher.list(asked);
    return listed instanceof Promise
      ? listed.then((list) => respondList(context, endpoint, list, negotiated))
      : respondList(context, endpoint, listed, negotiated);
  }
}

/** Upstream: apiserver/pkg/storage/cacher/cacher.go. */
function listWithin(span: RequestSpan, store: Store, options: CacheListOptions): CacheList | Promise<CacheList> {
  return span.around('cacher.GetList', [['type', groupResourceString(store.groupResource)]], (tell) => {
    if (store.cacher.ready) tell('Ready');
    const filtered = (list: CacheList): CacheList => {
      tell('watchCache fresh enough');
      tell('Filtered items', [['count', list.count]]);
      return list;
    };
    const listed = store.cacher.list(options);
    return listed instanceof Promise ? listed.then(filtered) : filtered(listed);
  });
}

/** A list as it is shown: of what kind it says it is, and how its items are called in the caches of the chunks. */
interface ListForm {
  readonly kind: string;
  readonly apiVersion: string;
  /** Of PartialObjectMetadata; undefined where the items are shown whole. */
  readonly partial: string | undefined;
  readonly variant: string;
  readonly metadata: ListMeta;
}

/** Sends a list in the form that was negotiated, of encodings that the cache keeps where nothing of them depends on the time. */
export function respondList(
  context: RequestContext,
  endpoint: ResourceEndpoint,
  list: CacheList,
  negotiated: Negotiated,
): void | Promise<void> {
  const respond = (): void | Promise<void> => startSteps(respondListIn(context, endpoint, list, negotiated));
  return context.span ? respondWithin(context.span, context, negotiated, respond) : respond();
}

/** What is encoded already takes no time, and most lists are. */
function* respondListIn(context: RequestContext, endpoint: ResourceEndpoint, list: CacheList, negotiated: Negotiated): Steps<void> {
  const { convert, mediaType } = negotiated;
  const metadata = metadataOf(list);
  if (convert?.kind === 'Table') return yield* respondTable(context, endpoint, list, metadata, negotiated);
  if (convert?.kind === 'PartialObjectMetadata') throw newWrongPartial(endpoint, convert.kind, true);
  const partial = convert?.version;
  const groupVersion = groupVersionString(endpoint.kind);
  const form: ListForm = partial
    ? {
        kind: 'PartialObjectMetadataList',
        apiVersion: `meta.k8s.io/${partial}`,
        partial,
        variant: `partial:${partial}:${groupVersion}`,
        metadata,
      }
    : { kind: endpoint.definition.listKind, apiVersion: groupVersion, partial, variant: groupVersion, metadata };
  const streamed = streamedBytes(context, endpoint, list, negotiated);
  if (streamed !== undefined) return streamJson(context, endpoint, list, form, streamed);
  const isJson = mediaType !== 'application/vnd.kubernetes.protobuf' && mediaType !== 'application/cbor';
  const json = isJson || context.audit?.recordsResponse ? yield* jsonPieces(endpoint, list, form) : [];
  if (isJson) return respondJson(context, negotiated, endpoint.type, json);
  if (context.audit?.recordsResponse) context.audit.responseObject(Buffer.concat(json));
  const encode = mediaType === 'application/cbor' ? cborPieces : protobufPieces;
  respondPieces(context, mediaType, yield* encode(endpoint, list, form));
}

/** What the runs of a list are made of: see `ListChunk.encoded`. */
interface Run {
  readonly variant: string;
  readonly makeItem: (object: CachedObject) => Buffer;
  readonly separator: Buffer;
  readonly stamp?: number;
  /** Of a large object; default: nothing, its bytes do. */
  readonly prepare?: Prepare | undefined;
}

/** The runs of items, each as the cache keeps it. */
function* runsOf(chunks: readonly ListChunk[], { variant, makeItem, separator, stamp, prepare }: Run): Steps<Buffer[]> {
  const runs: Buffer[] = [];
  for (const chunk of chunks) {
    if (prepare && !chunk.isEncoded(variant, stamp)) for (const item of chunk.items) yield* prepare(item);
    runs.push(chunk.encoded(variant, makeItem, separator, stamp));
    yield;
  }
  return runs;
}

function* protobufPieces(
  endpoint: ResourceEndpoint,
  { chunks }: CacheList,
  { kind, apiVersion, partial, variant, metadata }: ListForm,
): Steps<readonly Buffer[]> {
  const type = partial ? metaSchema.struct('meta_v1.PartialObjectMetadata') : endpoint.type;
  const makeItem = ({ object }: CachedObject): Buffer => {
    const shown = fromStorage(endpoint, object);
    return encodeProtobufListItem(type, partial ? { metadata: shown.metadata } : shown);
  };
  const items = yield* runsOf(chunks, { variant: `protobuf:${variant}`, makeItem, separator: nothing, prepare: prepareProtobuf });
  return protobufList(metaSchema.struct('meta_v1.ListMeta'), { apiVersion, kind, metadata }, items);
}

/** The items are made of their JSON, in which nothing is missing that upstream writes. */
function* cborPieces(endpoint: ResourceEndpoint, { chunks }: CacheList, form: ListForm): Steps<readonly Buffer[]> {
  const { variant, partial } = form;
  const type = partial ? metaSchema.struct('meta_v1.PartialObjectMetadata') : cborType(endpoint.type);
  const makeJson = jsonItemOf(endpoint, form);
  const makeItem = (object: CachedObject): Buffer => encodeCborListItem(type, parseEncoded(makeJson(object)));
  const items = yield* runsOf(chunks, {
    variant: `cbor:${variant}`,
    makeItem,
    separator: nothing,
    prepare: endpoint.conversion && parseObject,
  });
  return cborList(
    { ...form, metadata: isMap(endpoint, form) ? { continue: '', ...form.metadata } : form.metadata },
    items,
    countOf(chunks),
  );
}

/** Whether a list is a map to upstream, as those of custom resources are: its keys are sorted, and `continue` is always there. */
function isMap({ definition }: ResourceEndpoint, { partial }: ListForm): boolean {
  return definition.custom !== undefined && !partial;
}

function jsonItemOf(endpoint: ResourceEndpoint, { partial }: ListForm): (object: CachedObject) => Buffer {
  return partial ? (object) => partialBytes(endpoint, object, partial) : itemOf(endpoint);
}

function* jsonPieces(endpoint: ResourceEndpoint, { chunks }: CacheList, form: ListForm): Steps<Buffer[]> {
  const { variant } = form;
  const makeItem = jsonItemOf(endpoint, form);
  const runs = yield* runsOf(chunks, { variant, makeItem, separator: comma, prepare: endpoint.conversion && parseObject });
  const { head, end } = aroundItems(endpoint, form);
  // Of a list that upstream makes of another, none are null.
  if (form.partial && countOf(chunks) === 0) return [Buffer.from(`${head}null}\n`)];
  return [Buffer.from(`${head}[`), ...separated(runs), Buffer.from(`]${end}`)];
}

/** What of the JSON of a list stands before its items, and behind them. */
function aroundItems(endpoint: ResourceEndpoint, form: ListForm): { readonly head: string; readonly end: string } {
  const { kind, apiVersion, metadata } = form;
  if (isMap(endpoint, form)) {
    const end = `,"kind":"${kind}","metadata":${encodeJson({ continue: '', ...metadata })}}\n`;
    return { head: `{"apiVersion":"${apiVersion}","items":`, end };
  }
  const meta = encode(metaSchema.struct('meta_v1.ListMeta'), metadata);
  return { head: `{"kind":"${kind}","apiVersion":"${apiVersion}","metadata":${meta},"items":`, end: '}\n' };
}

/** The runs of a list of more are made as the client takes them: else each such list is a second copy of all that is stored, as long as it lasts. */
const streamedAboveBytes = 32 * 1024 * 1024;

const recentRuns = new RecentRuns(streamedAboveBytes / 4);

/** The bytes of the items of a list that is so large, if it is shown as it is stored, so that they are known; undefined of others. */
function streamedBytes(
  context: RequestContext,
  { conversion, itemPrefix }: ResourceEndpoint,
  { chunks }: CacheList,
  negotiated: Negotiated,
): number | undefined {
  if (negotiated.mediaType !== 'application/json' || negotiated.convert || conversion) return undefined;
  const stored = sum(chunks, ({ bytes }) => bytes);
  if (stored <= streamedAboveBytes) return undefined;
  if (context.audit?.recordsResponse || wantsPretty(context, negotiated) || acceptsGzip(context)) return undefined;
  // Without the line's end, or what stands before the item instead of a brace.
  return stored - countOf(chunks) * Math.max(itemPrefix, 1);
}

function streamJson(context: RequestContext, endpoint: ResourceEndpoint, { chunks }: CacheList, form: ListForm, itemBytes: number): void {
  const { exchange } = context;
  if (context.answered || exchange.closed) return;
  const around = aroundItems(endpoint, form);
  const head = Buffer.from(`${around.head}[`);
  const end = Buffer.from(`]${around.end}`);
  const makeItem = itemOf(endpoint);
  const pieces = function* (): Generator<Buffer, void> {
    yield head;
    for (const [at, chunk] of chunks.entries()) {
      if (at > 0) yield comma;
      const run = chunk.encoded(form.variant, makeItem, comma);
      recentRuns.used(chunk, form.variant, run.length);
      yield run;
    }
    yield end;
  };
  exchange.onClose(recentRuns.begin());
  sendPieces(context, 200, 'application/json', pieces(), head.length + itemBytes + countOf(chunks) - 1 + end.length);
}

function sum<T>(list: readonly T[], numberOf: (item: T) => number): number {
  let total = 0;
  for (const item of list) total += numberOf(item);
  return total;
}

function countOf(chunks: readonly ListChunk[]): number {
  return sum(chunks, ({ items }) => items.length);
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

function metadataOf(list: CacheList): ListMeta {
  const metadata: ListMeta = { resourceVersion: String(list.revision) };
  if (list.continueToken) metadata.continue = list.continueToken;
  if (list.remainingItemCount !== undefined && list.remainingItemCount > 0) metadata.remainingItemCount = list.remainingItemCount;
  return metadata;
}

/** Ages are told in whole seconds: rows are the same to all who ask within one. */
function* respondTable(
  context: RequestContext,
  endpoint: ResourceEndpoint,
  list: CacheList,
  metadata: ListMeta,
  negotiated: Negotiated,
): Steps<void> {
  const options = tableOptions(context);
  const version = negotiated.convert?.version ?? 'v1';
  const variant = `table:${options.includeObject}:${version}:${groupVersionString(endpoint.kind)}`;
  const second = Math.floor(Date.now() / 1000);
  const { compareRows } = endpoint.definition;
  const makeRow = (object: CachedObject) => encodeRow(endpoint, object, options, version, second * 1000);
  const rows = compareRows
    ? yield* sortedRows(list.chunks, compareRows, makeRow)
    : yield* runsOf(list.chunks, { variant, makeItem: makeRow, separator: comma, stamp: second, prepare: parseObject });
  const head = Buffer.from(tableHead(version, metadata, columnsOf(endpoint)));
  respondJson(context, negotiated, metaSchema.struct('meta_v1.Table'), [head, ...separated(rows), listEnd]);
}

function* sortedRows(
  chunks: readonly ListChunk[],
  compareRows: NonNullable<ResourceEndpoint['definition']['compareRows']>,
  makeRow: (object: CachedObject) => Buffer,
): Steps<Buffer[]> {
  const parsed: { readonly item: CachedObject; readonly object: KubeObject }[] = [];
  for (const { items } of chunks) {
    for (const item of items) {
      yield* item.parseSteps();
      parsed.push({ item, object: item.object });
    }
    yield;
  }
  parsed.sort((a, b) => compareRows(a.object, b.object));
  const rows: Buffer[] = [];
  for (const { item } of parsed) {
    rows.push(makeRow(item));
    yield;
  }
  return rows;
}

/** Sends JSON, or what the client wants instead of it. */
function respondJson(context: RequestContext, negotiated: Negotiated, type: StructType, pieces: readonly Buffer[]): void {
  const { mediaType } = negotiated;
  if (context.audit?.recordsResponse) context.audit.responseObject(Buffer.concat(pieces));
  if (mediaType === 'application/json' && !wantsPretty(context, negotiated)) return respondPieces(context, mediaType, pieces);
  respondInMediaType(context, 200, pieces, negotiated, type);
}

function separated(runs: readonly Buffer[]): Buffer[] {
  return runs.flatMap((run, i) => (i === 0 ? [run] : [comma, run]));
}
