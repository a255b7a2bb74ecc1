import { defaultColumns } from '#apiserver/registry/table-columns';
import { Buffer } from 'node:buffer';
import { Injectable } from '@nestjs/common';
import { metaSchema } from '#apimachinery/meta/schema/schema';
import { groupVersionString, type KubeObject, type ListMeta } from '#apimachinery/meta/types';
import type { StructType } from '#apimachinery/runtime/schema';
import { startSteps, type Steps } from '#apimachinery/runtime/steps';
import type { RequestContext } from '#apiserver/request/request-context';
import type { CachedObject } from '#apiserver/storage/cacher/cached-object';
import type { CacheList, CacheListOptions } from '#apiserver/storage/cacher/list-query';
import type { Predicate } from '#apiserver/storage/cacher/predicate';
import type { ListChunk } from '#apiserver/storage/cacher/object-tree';
import type { Store } from '#apiserver/registry/store';
import type { RequestSpan } from '#apiserver/request/request-span';
import { groupResourceString } from '#apimachinery/api/errors';
import { parseObject } from './large-objects.ts';
import { runsOf } from './list-runs.ts';
import { negotiate, type Negotiated } from './negotiation.ts';
import { newWrongPartial } from './partial.ts';
import type { ListQuery } from '#apiserver/request/list-options';
import { parseListOptions } from './query-options.ts';
import type { ResourceEndpoint } from './resource-endpoint.ts';
import { respondInMediaType, respondPieces, respondWithin, wantsPretty } from './responses.ts';
import { storedSelectionOf } from './selection.ts';
import { columnsOf, encodeRow, tableHead, tableOptions } from './table.ts';
import { cborPieces, comma, jsonBody, type ListBody, type ListForm, listEnd, piecesOf, protobufBody, separated, sum } from './list-body.ts';
import { respondLarge } from './large-list.ts';
import { respondInTurn } from './list-room.ts';

/** GET of a collection. Upstream: endpoints/handlers/get.go (ListResource). */
@Injectable()
export class ListHandler {
  handle(context: RequestContext, endpoint: ResourceEndpoint): void | Promise<void> {
    const negotiated = negotiate(context.header('accept'), endpoint.restrictions, true);
    const options = parseListOptions(context.searchParams);
    const selecting = storedSelectionOf(endpoint, options, context.info.name);
    return selecting instanceof Promise
      ? selecting.then((predicate) => this.#list(context, endpoint, negotiated, options, predicate))
      : this.#list(context, endpoint, negotiated, options, selecting);
  }

  #list(
    context: RequestContext,
    endpoint: ResourceEndpoint,
    negotiated: Negotiated,
    options: ListQuery,
    predicate: Predicate,
  ): void | Promise<void> {
    const { store } = endpoint;
    const asked = {
      scope: store.selectedScope(context.info.namespace, predicate, options.continue !== ''),
      resourceVersion: options.resourceVersion,
      resourceVersionMatch: options.resourceVersionMatch,
      limit: options.limit,
      continue: options.continue,
      predicate,
    };
    const listed = context.span ? listWithin(context.span, store, asked) : store.cacher.list(asked);
    return listed instanceof Promise
      ? listed.then((list) => respondList(context, endpoint, list, negotiated, predicate))
      : respondList(context, endpoint, listed, negotiated, predicate);
  }
}

/** Reads a list within a span. Upstream: apiserver/pkg/storage/cacher/cacher.go. */
function listWithin(span: RequestSpan, store: Store, options: CacheListOptions): CacheList | Promise<CacheList> {
  return span.around('cacher.GetList', [['type', groupResourceString(store.groupResource)]], (addEvent) => {
    if (store.cacher.ready) addEvent('Ready');
    const filtered = (list: CacheList): CacheList => {
      addEvent('watchCache fresh enough');
      addEvent('Filtered items', [['count', list.count]]);
      return list;
    };
    const listed = store.cacher.list(options);
    return listed instanceof Promise ? listed.then(filtered) : filtered(listed);
  });
}

/** Sends a list in the negotiated form. Encodings that do not depend on the time come from the cache. */
export function respondList(
  context: RequestContext,
  endpoint: ResourceEndpoint,
  list: CacheList,
  negotiated: Negotiated,
  predicate: Predicate,
): void | Promise<void> {
  const respond = (): void | Promise<void> => respondListIn(context, endpoint, list, negotiated, predicate);
  return context.span ? respondWithin(context.span, context, negotiated, respond) : respond();
}

function respondListIn(
  context: RequestContext,
  endpoint: ResourceEndpoint,
  list: CacheList,
  negotiated: Negotiated,
  { shards }: Predicate,
): void | Promise<void> {
  const { convert, mediaType } = negotiated;
  const metadata = metadataOf(list);
  if (convert?.kind === 'Table') return respondTable(context, endpoint, list, metadata, negotiated);
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
    : {
        kind: endpoint.definition.listKind,
        apiVersion: groupVersion,
        partial,
        variant: groupVersion,
        // Upstream's lists of custom resources cannot carry it.
        metadata: shards && !endpoint.definition.custom ? { ...metadata, shardInfo: { selector: shards.text } } : metadata,
      };
  const isProtobuf = mediaType === 'application/vnd.kubernetes.protobuf';
  const body = isProtobuf ? protobufBody(endpoint, form) : jsonBody(endpoint, list, form);
  // The size of items in their stored form is known without encoding them.
  const itemBytes = isProtobuf || partial || endpoint.conversion ? undefined : storedItemBytes(endpoint, list);
  return respondInTurn(context, list, canBeMadeAsTaken(context, negotiated), {
    whole: () => ended(startSteps(respondWhole(context, endpoint, list, negotiated, form, body))),
    asTaken: (isLarge) => respondLarge({ context, mediaType, list, body, itemBytes }, isLarge),
  });
}

/** Sends the whole list. It is synchronous if the runs are encoded already, as for most lists. */
function* respondWhole(
  context: RequestContext,
  endpoint: ResourceEndpoint,
  list: CacheList,
  negotiated: Negotiated,
  form: ListForm,
  body: ListBody,
): Steps<void | Promise<void>> {
  const { mediaType } = negotiated;
  const isProtobuf = mediaType === 'application/vnd.kubernetes.protobuf';
  const isCbor = mediaType === 'application/cbor';
  if (!isProtobuf && !isCbor) return respondJson(context, negotiated, endpoint.type, yield* piecesOf(list, body));
  if (context.audit?.recordsResponse) {
    const json = isProtobuf ? jsonBody(endpoint, list, form) : body;
    context.audit.responseObject(Buffer.concat(yield* piecesOf(list, json)));
  }
  return respondPieces(context, mediaType, isCbor ? yield* cborPieces(endpoint, list, form) : yield* piecesOf(list, body));
}

/** True if the response can be encoded run by run. */
function canBeMadeAsTaken(context: RequestContext, negotiated: Negotiated): boolean {
  const { mediaType } = negotiated;
  if (mediaType !== 'application/json' && mediaType !== 'application/vnd.kubernetes.protobuf') return false;
  return !context.audit?.recordsResponse && !wantsPretty(context, negotiated);
}

/** Returns the end of work whose last step may have started more. */
function ended(work: void | Promise<void | Promise<void>>): void | Promise<void> {
  return work?.then((more) => more);
}

/** Returns the JSON size of a list in stored form: commas replace newlines or, of the item prefix, all but the brace. */
function storedItemBytes({ itemPrefix }: ResourceEndpoint, { chunks, count }: CacheList): number {
  return sum(chunks, ({ bytes }) => bytes) - count * Math.max(itemPrefix, 1) + Math.max(0, count - 1);
}

function metadataOf(list: CacheList): ListMeta {
  const metadata: ListMeta = { resourceVersion: String(list.revision) };
  if (list.continueToken) metadata.continue = list.continueToken;
  if (list.remainingItemCount !== undefined && list.remainingItemCount > 0) metadata.remainingItemCount = list.remainingItemCount;
  return metadata;
}

/** Sends a table. Ages are in whole seconds, so rows are shared by requests within one second. */
function respondTable(
  context: RequestContext,
  endpoint: ResourceEndpoint,
  list: CacheList,
  metadata: ListMeta,
  negotiated: Negotiated,
): void | Promise<void> {
  const options = tableOptions(context);
  const version = negotiated.convert?.version ?? 'v1';
  const variant = `table:${options.includeObject}:${version}:${groupVersionString(endpoint.kind)}`;
  const columns = columnsOf(endpoint);
  const head = tableHead(version, metadata, columns);
  // Upstream's default convertor leaves the rows of an empty list unset.
  const hasNoRows = list.count === 0 && columns === defaultColumns;
  const around = hasNoRows
    ? { head: Buffer.from(`${head.slice(0, -1)}null`), end: Buffer.from('}\n') }
    : { head: Buffer.from(head), end: listEnd };
  const body: ListBody = {
    get run() {
      const second = Math.floor(Date.now() / 1000);
      const makeItem = (object: CachedObject): Buffer => encodeRow(endpoint, object, options, version, second * 1000);
      return { variant, makeItem, separator: comma, stamp: second, prepare: parseObject };
    },
    around: () => around,
  };
  const { mediaType } = negotiated;
  const { compareRows } = endpoint.definition;
  const mayBeMade = !compareRows && mediaType === 'application/json' && canBeMadeAsTaken(context, negotiated);
  return respondInTurn(context, list, mayBeMade, {
    whole: () => ended(startSteps(respondRows(context, list, negotiated, body, compareRows))),
    asTaken: (isLarge) => respondLarge({ context, mediaType, list, body, itemBytes: undefined }, isLarge),
  });
}

function* respondRows(
  context: RequestContext,
  list: CacheList,
  negotiated: Negotiated,
  body: ListBody,
  compareRows: ResourceEndpoint['definition']['compareRows'],
): Steps<void | Promise<void>> {
  const { run } = body;
  const rows = compareRows ? yield* sortedRows(list.chunks, compareRows, run.makeItem) : yield* runsOf(list.chunks, run);
  const { head, end } = body.around(0);
  return respondJson(context, negotiated, metaSchema.struct('meta_v1.Table'), [head, ...separated(rows, run.separator), end]);
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

/** Sends JSON or the negotiated encoding. */
function respondJson(context: RequestContext, negotiated: Negotiated, type: StructType, pieces: readonly Buffer[]): void | Promise<void> {
  const { mediaType } = negotiated;
  if (context.audit?.recordsResponse) context.audit.responseObject(Buffer.concat(pieces));
  if (mediaType === 'application/json' && !wantsPretty(context, negotiated)) return respondPieces(context, mediaType, pieces);
  return respondInMediaType(context, 200, pieces, negotiated, type);
}
